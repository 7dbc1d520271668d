// The axis below a chart: rounds, or the time of day at which they were told.
//
// An axis has: key (another one has another key), share (of a round, from 0 at the left to 1 at the
// right), round (the one at a share), and ticks(most), which gives pairs of share and text.

import { clock, count } from "./words.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 364 * DAY,
];
const NICE = [1, 2, 5, 10];

/** A step of 1, 2 or 5 times a power of ten that cuts `width` into at most `most` parts. */
export function niceStep(width, most) {
  const rough = width / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return NICE.find((nice) => nice * power >= rough * (1 - 1e-9)) * power;
}

export function steps(low, high, step) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step || 0);
  return found;
}

export function roundAxis(first, last) {
  const width = Math.max(1, last - first);
  const share = (round) => (round - first) / width;
  const rounds = (most) => (last <= first ? [first] : steps(first, last, Math.max(1, niceStep(last - first, Math.min(6, most)))));
  return {
    key: `rounds ${first} ${last}`,
    share,
    round: (at) => Math.round(first + at * width),
    ticks: (most) => rounds(most).map((round) => [share(round), count(round)]),
  };
}

/** The times of the rounds from index `from` on; rounds in place of it if they were told at once. */
export function clockAxis(history, from) {
  const times = increasing(history.time.slice(from));
  const [first, last] = [times[0], times.at(-1)];
  if (!(last - first >= 1)) return roundAxis(history.round[from], history.last);
  const share = (time) => (time - first) / (last - first);
  return {
    key: `times ${first} ${last}`,
    share: (round) => share(times[Math.max(0, history.indexOf(round) - from)]),
    round: (at) => history.round[from + nearest(times, first + at * (last - first))],
    ticks: (most) => {
      // The longest text has twice the letters of a number of rounds.
      const step = STEPS.find((each) => (last - first) / each <= Math.max(2, most / 1.6)) ?? STEPS.at(-1);
      const zone = -60 * new Date(1000 * first).getTimezoneOffset();
      return steps(first + zone, last + zone, step).map((local) => [share(local - zone), timeText(local - zone, step)]);
    },
  };
}

/** Clients' clocks may differ: a round is not shown before the one before it. */
function increasing(times) {
  let latest = -Infinity;
  return times.map((time) => (latest = Math.max(latest, time ?? latest)));
}

function nearest(times, wanted) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - times[low - 1] < times[low] - wanted ? low - 1 : low;
}

function timeText(seconds, step) {
  const moment = new Date(1000 * seconds);
  const midnight = !moment.getHours() && !moment.getMinutes() && !moment.getSeconds();
  if (step >= DAY || midnight) return moment.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  const time = moment.toLocaleTimeString("en-GB");
  return step < MINUTE ? time : time.slice(0, 5);
}

/** Where an axis begins and ends, for those who do not see it. */
export const reachInTime = (history, from) => `${clock(history.time[from])} to ${clock(history.time.at(-1))}`;
