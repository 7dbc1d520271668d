// The content of each chart of a study: numbers and sentences from the history.
//
// A model has: axis (see axis.js), first, last (rounds), step (rounds of one drawn position), domain, log, bounds, held,
// band, dots, outside (dots beyond the domain), line, rule, format (of the label at the end), tick (of the axis), note, summary,
// and at(round), which gives the round, the height of the mark and the texts at the cursor.

import { band, buckets, extent, heldStretches, line, quantile, rollingMean, sorted, withoutFarOff } from "./data.js";
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
    held: heldStretches(history, from),
  };
}

function base(frame, { domain, log = false }) {
  const { axis, first, last, step, held } = frame;
  return { axis, first, last, step, held, domain, log, tick: tickFormat(domain, log) };
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
  const range = study.ranges?.[column] ?? null;
  const log = Boolean(study.log?.[column]) && (!range || range[0] > 0);
  const best = history.best[column];
  const played = history.played[column];
  const tube = band(history.round, played, from, frame.wide);
  const path = line(history.round, best, from, frame.step);
  const seen = extent([...tube.flatMap(([, low, high]) => [low, high]), ...path.map(([, v]) => v)]);
  const domain = fitted || !range ? padded(seen, log) : range;
  const format = range ? columnFormat(study, column) : formatFor(seen ? seen[1] - seen[0] : 0);
  const late = sorted(played.slice(-frame.recent));
  const between = late.length ? `${format(late[0])} to ${format(late.at(-1))}` : "nothing";
  const name = study.columns[column];
  const named = Boolean(study.labels?.[column]?.length);
  const text = named ? format : number;
  const allowed = range ? ` Allowed: ${text(range[0])} to ${text(range[1])}.` : "";
  return {
    ...base(frame, { domain, log }),
    ...(named ? { tick: (v) => short(format(v), 6) } : {}),
    bounds: range && domain === range ? range : [],
    band: tube,
    dots: frame.shown <= FEW ? points(history, played, from) : [],
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
  const more = offTheAxis(outside, domain);
  const without = leftOut(history.value, usual, from);
  return {
    ...base(frame, { domain }),
    band: tube,
    dots: dots.filter(within),
    outside,
    line: path,
    format: (v) => steady(v, 4),
    namesHeld: true,
    note: `mean of ${frame.recent}${without}, ${few ? "each value" : "5–95 % of the values"}.${more}`,
    summary: `Value ${reach(frame)}. Mean of the last ${frame.recent} rounds${without}: ${number(mean.at(-1))}, `
      + `at the beginning ${number(mean.slice(from).find(isNumber))}. ${word} is better.${more}`,
    at: (round) => {
      const i = history.indexOf(round);
      const hold = history.held[i] ? ", on hold" : "";
      return reading(frame, i, mean[i], `value ${number(history.value[i])}, mean ${number(mean[i])}${hold}`);
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

// --- the certificate ------------------------------------------------------------------------------

/** The range of the values: the largest regret of a round that they allow. */
export function spreadOf(history) {
  const seen = extent(history.value);
  return seen && seen[1] > seen[0] ? seen[1] - seen[0] : null;
}

export function certificateModel(frame) {
  const { history, from } = frame;
  const each = history.certificate.map((v, i) => (isNumber(v) ? v / Math.max(1, history.round[i]) : null));
  if (!each.slice(from).some(isNumber)) return null;
  const path = line(history.round, each, from, frame.step);
  const spread = spreadOf(history);
  const [low, high] = extent([...path.map(([, v]) => v), spread]);
  const log = low > 0 && high / low > 20;
  const domain = log ? padded([low, high], true) : [0, high * 1.15 || 1];
  return {
    ...base(frame, { domain, log }),
    line: path,
    rule: spread === null ? null : { y: spread, label: `range of the values ${steady(spread)}` },
    format: (v) => steady(v),
    note: `proved${log ? ", log axis" : ""}`,
    summary: `Certificate per round ${reach(frame)}: now ${steady(each.at(-1))}. Range of the values: ${steady(spread)}.`,
    at: (round) => {
      const i = history.indexOf(round);
      return reading(frame, i, each[i], `at most ${steady(each[i])} per round`);
    },
  };
}

/** What the certificate says, in sentences. */
export function certificateWords(study, history) {
  if (!isNumber(study.certificate)) return "";
  const each = certificateOf(study);
  const spread = spreadOf(history);
  const proved = `Proved: on average at most ${steady(each)} per round worse than the best fixed setting.`;
  if (spread !== null && each >= spread) return `${proved} That exceeds the range of the values (${steady(spread)}), so it says nothing yet.`;
  return proved;
}

export const certificateOf = (study) => (isNumber(study.certificate) ? study.certificate / Math.max(1, study.rounds) : null);
