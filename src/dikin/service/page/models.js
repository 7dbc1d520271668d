// The content of each chart of a study: numbers and sentences from the history.
//
// A model has: axis (see axis.js), first, last (rounds), step (rounds of one drawn position), domain, log, bounds, pauses,
// band, dots, outside (dots beyond the domain), failed (rounds), line, ticks, format (of the label at the end), tick (of the axis), note, summary,
// and at(round), which gives the round, the height of the mark and the texts at the cursor.

import { band, buckets, extent, line, pauses, quantile, rollingMean, sorted, withoutFarOff } from "./data.js";
import { clockAxis, reachInTime, roundAxis } from "./axis.js";
import { clock, columnFormat, count, formatFor, isNumber, number, short, steady } from "./words.js";
import { tickFormat } from "./charts.js";

const POSITIONS = 400;
const BAND_POSITIONS = 70;
const FEW = 400;

/** What all charts of one redraw share. */
export function frameOf(study, history, wanted, timed) {
  const from = Math.max(0, history.length - wanted);
  const shown = history.length - from;
  const recent = study.recent_rounds || 100;
  // Rounds may be counted from 0 or from 1.
  const whole = history.round[0] <= 1;
  const [first, last] = [history.round[from], history.last];
  return {
    study, history, from, shown, recent, whole, first, last, timed,
    axis: timed ? clockAxis(history, from) : roundAxis(first, last),
    step: Math.max(1, Math.ceil(shown / POSITIONS)),
    wide: Math.max(8, Math.ceil(shown / BAND_POSITIONS)),
    pauses: pauses(history, from),
  };
}

function base(frame, { domain, log = false }) {
  const { axis, first, last, step, pauses } = frame;
  return { axis, first, last, step, pauses, domain, log, tick: tickFormat(domain, log) };
}

/** The text of a model at the cursor: short beside its title, in full for screen readers. */
function reading({ history }, i, y, short) {
  const time = clock(history.time[i]);
  const text = `round ${count(history.round[i])}${time && ` at ${time}`}: ${short}`;
  return { round: history.round[i], y, short, text };
}

function reach({ history, from, first, last, timed }) {
  const times = timed ? `, ${reachInTime(history, from)}` : "";
  return `over rounds ${count(first)} to ${count(last)}${times}`;
}

// --- a decision -----------------------------------------------------------------------------------

export function decisionModel(frame, column, fitted) {
  const { study, history, from } = frame;
  const name = study.columns[column];
  const range = study.ranges?.[column] ?? null;
  const log = Boolean(study.log?.[column]) && (!range || range[0] > 0);
  const best = history.best[column];
  const played = history.played[column];
  const labels = study.labels?.[column] ?? [];
  // Of values without an order a band says nothing: each that was tried is a dot.
  const orderless = isChoice(study, name);
  const tube = orderless ? [] : band(history.round, played, from, frame.wide);
  // With contexts the best guess is another one from round to round.
  const path = study.contexts ? [] : line(history.round, best, from, frame.step);
  const guesses = study.contexts ? points(history, best, from) : [];
  const seen = extent([...tube.flatMap(([, low, high]) => [low, high]), ...path.map(([, v]) => v), ...guesses.map(([, v]) => v)]);
  const domain = labels.length ? padded(range) : fitted || !range ? padded(seen, log) : range;
  const format = range ? columnFormat(study, column) : formatFor(seen ? seen[1] - seen[0] : 0);
  const late = sorted(played.slice(-frame.recent));
  const between = !late.length ? "nothing" : labels.length ? shares(late, labels) : `${format(late[0])} to ${format(late.at(-1))}`;
  const span = labels.length ? labels.join(", ") : range ? `${number(range[0])} to ${number(range[1])}` : "";
  const allowed = span && ` Allowed: ${span}.`;
  return {
    ...base(frame, { domain, log }),
    ...(labels.length ? labelled(labels, format) : {}),
    bounds: range && domain === range && !labels.length ? range : [],
    band: tube,
    dots: study.contexts ? guesses : orderless || frame.shown <= FEW ? points(history, played, from) : [],
    line: path,
    format,
    note: `last ${late.length} tried: ${between}`,
    summary: `${name} ${reach(frame)}. Best guess now ${format(best.at(-1))}, at the beginning ${format(best[from])}. `
      + `Tried in the last ${late.length} rounds: ${between}.${allowed}`,
    at: (round) => {
      const i = history.indexOf(round);
      return reading(frame, i, best[i], `tried ${format(played[i])}, best ${format(best[i])}`);
    },
  };
}

const isChoice = (study, column) => study.space?.parameters?.[column]?.kind === "choice";

/** The axis of a column with a label at each whole number; all of them where there are few. */
function labelled(labels, format) {
  const every = Math.ceil(labels.length / 8);
  const ticks = labels.map((_, i) => i).filter((i) => i % every === 0 || i === labels.length - 1);
  return { ticks, tick: (v) => short(format(v), 7) };
}

/** How often each label was tried, the most frequent first. */
function shares(values, labels) {
  const times = labels.map((label, i) => [label, values.filter((v) => v === i).length]).filter(([, n]) => n);
  return times.sort((a, b) => b[1] - a[1]).slice(0, 4).map(([label, n]) => `${label} ${Math.round((100 * n) / values.length)} %`).join(", ");
}

function points(history, values, from) {
  const found = [];
  for (let i = from; i < history.length; i++) {
    if (isNumber(values[i])) found.push([history.round[i], values[i]]);
  }
  return found;
}

/** Some margin above and below; never a domain without width. */
function padded(seen, log = false) {
  const [low, high] = seen ?? [0, 1];
  if (log && low > 0) return [low / (high / low) ** 0.08 / 1.05, high * (high / low) ** 0.08 * 1.05];
  const air = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
  return [low - air, high + air];
}

// --- the value ------------------------------------------------------------------------------------

export function valueModel(frame) {
  const { study, history, from } = frame;
  const usual = withoutFarOff(history.value);
  const mean = rollingMean(usual, frame.recent, frame.whole);
  const few = frame.shown <= FEW;
  const tube = few ? [] : band(history.round, history.value, from, frame.wide);
  const dots = few ? points(history, history.value, from) : outliers(frame, frame.wide);
  const path = line(history.round, mean, from, frame.step);
  const domain = robustDomain(usual.slice(from), path);
  const within = ([, v]) => v >= domain[0] && v <= domain[1];
  const outside = points(history, history.value, from).filter((point) => !within(point));
  const word = study.maximize ? "Larger" : "Smaller";
  const failed = history.round.filter((_, i) => i >= from && history.failed[i]);
  const more = offTheAxis(outside, domain) + (failed.length ? ` ${count(failed.length)} failed.` : "");
  const without = leftOut(history.value, usual, from);
  return {
    ...base(frame, { domain }),
    band: tube,
    dots: dots.filter(within),
    outside,
    line: path,
    format: (v) => steady(v, 4),
    failed,
    failuresAbove: !study.maximize,
    namesPauses: true,
    note: `mean of ${frame.recent}${without}, ${few ? "each value" : "5–95 % of the values"}.${more}`,
    summary: `Value ${reach(frame)}. Mean of the last ${frame.recent} rounds${without}: ${number(mean.at(-1))}, `
      + `at the beginning ${number(mean.slice(from).find(isNumber))}. ${word} is better.${more}`,
    at: (round) => {
      const i = history.indexOf(round);
      const pause = history.paused[i] ? ", paused" : "";
      const value = history.failed[i] ? "failed" : `value ${number(history.value[i])}`;
      return reading(frame, i, mean[i], `${value}, mean ${number(mean[i])}${pause}`);
    },
  };
}

function offTheAxis(outside, [, high]) {
  const above = outside.filter(([, v]) => v > high).length;
  const below = outside.length - above;
  const parts = [above && `${count(above)} above`, below && `${count(below)} below`].filter(Boolean);
  return parts.length ? ` ${parts.join(", ")} the axis.` : "";
}

function leftOut(values, usual, from) {
  const far = values.slice(from).filter((v, i) => isNumber(v) && usual[from + i] === null).length;
  return far ? ` without ${count(far)} far off` : "";
}

/** The values outside 5 to 95 % of their bucket, which would be hidden otherwise. */
function outliers({ history, from }, size) {
  return buckets(history.round, from, size).flatMap((bucket) => {
    const values = sorted(history.value.slice(bucket.from, bucket.to));
    if (values.length < 20) return [];
    const [low, high] = [quantile(values, 0.05), quantile(values, 0.95)];
    const found = [];
    for (let i = bucket.from; i < bucket.to; i++) {
      const value = history.value[i];
      if (isNumber(value) && (value < low || value > high)) found.push([history.round[i], value]);
    }
    return found;
  });
}

/** The range of the values; a few wild ones must not make all others flat. */
function robustDomain(values, path) {
  const order = sorted(values);
  if (!order.length) return [0, 1];
  const [low, high] = [quantile(order, 0.02), quantile(order, 0.98)];
  const wild = order.at(-1) - order[0] > 4 * (high - low) && high > low;
  const inner = wild ? [low - (high - low) * 0.3, high + (high - low) * 0.3] : [order[0], order.at(-1)];
  return padded(extent([...inner, ...path.map(([, v]) => v)]));
}

export const certificateOf = (study) => (isNumber(study.certificate) ? study.certificate / Math.max(1, study.rounds) : null);
