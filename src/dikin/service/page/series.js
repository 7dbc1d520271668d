// The rounds that the page remembers, and the content of each chart.

import { clock, columnFormat, count, formatFor, isNumber, number, short, steady } from "./dom.js";

const KEEP = 2000;
const COLUMNS = ["round", "value", "failed", "paused", "time"];

/** The last rounds of one study, as columns. */
export class History {
  constructor(width) {
    for (const key of COLUMNS) this[key] = [];
    for (const key of ["played", "best"]) this[key] = Array.from({ length: width }, () => []);
  }

  get length() {
    return this.round.length;
  }

  get last() {
    return this.round.at(-1) ?? 0;
  }

  /** Add new rounds; those that are known already may come again. */
  add(rounds) {
    const { last } = this;
    const from = rounds.round.findIndex((round) => round > last);
    if (from < 0) return;
    const joined = (old, more) => old.concat(more.slice(from)).slice(-KEEP);
    for (const key of COLUMNS) this[key] = joined(this[key], rounds[key]);
    for (const key of ["played", "best"]) this[key] = this[key].map((column, i) => joined(column, rounds[key][i]));
  }

  /** The index of a round, or of the next known one. */
  indexOf(round) {
    const found = this.round.findIndex((each) => each >= round);
    return found < 0 ? this.length - 1 : found;
  }
}

// --- statistics -----------------------------------------------------------------------------------

/** The mean of the last `width` entries at each entry; null where there is none. */
function rollingMean(values, width, whole) {
  // If there are older rounds that the page does not have, the first means would use too few values.
  const first = whole || values.length <= width ? 0 : width - 1;
  let [sum, known] = [0, 0];
  return values.map((value, i) => {
    if (isNumber(value)) [sum, known] = [sum + value, known + 1];
    const old = values[i - width];
    if (isNumber(old)) [sum, known] = [sum - old, known - 1];
    return known && i >= first ? sum / known : null;
  });
}

/** Cut the entries at multiples of `size` rounds, which do not move when new rounds come. */
function buckets(round, size) {
  const found = [];
  for (let i = 0; i < round.length; i++) {
    const key = Math.floor(round[i] / size);
    if (found.at(-1)?.key === key) found.at(-1).to = i + 1;
    else found.push({ key, from: i, to: i + 1 });
  }
  return found;
}

const sorted = (values) => values.filter(isNumber).sort((a, b) => a - b);

/** A quantile of sorted values. */
function quantile(values, q) {
  const place = (values.length - 1) * q;
  const low = Math.floor(place);
  const high = Math.min(low + 1, values.length - 1);
  return values[low] + (values[high] - values[low]) * (place - low);
}

/** The values with null for those ten times as far from the median as nine tenths of all. */
function withoutFarOff(values) {
  const seen = sorted(values);
  const distance = (value) => Math.abs(value - quantile(seen, 0.5));
  const most = 10 * quantile(sorted(seen.map(distance)), 0.9);
  // If most values are equal, none is far off.
  return most ? values.map((value) => (isNumber(value) && distance(value) <= most ? value : null)) : values;
}

/** The range of the values in each bucket, as `[round, low, high]`: 5 to 95 % of many, all of few. */
function band(round, values, size) {
  const found = buckets(round, size);
  // The newest rounds join the last full bucket, as few rounds say little.
  if (found.length > 1 && found.at(-1).to - found.at(-1).from < size / 2) found.at(-2).to = found.pop().to;
  const rows = found.flatMap((bucket) => {
    const inside = sorted(values.slice(bucket.from, bucket.to));
    if (!inside.length) return [];
    const cut = inside.length >= 20 ? 0.05 : 0;
    return [[(round[bucket.from] + round[bucket.to - 1]) / 2, quantile(inside, cut), quantile(inside, 1 - cut)]];
  });
  // A band begins and ends with the window, not half a bucket inside of it.
  return rows.length ? [[round[0], ...rows[0].slice(1)], ...rows, [round.at(-1), ...rows.at(-1).slice(1)]] : rows;
}

/** The last value of each bucket as `[round, value]`; null breaks the line. */
const line = (round, values, size) =>
  buckets(round, size).map(({ to }) => [round[to - 1], isNumber(values[to - 1]) ? values[to - 1] : null]);

const points = ({ round }, values) => round.flatMap((each, i) => (isNumber(values[i]) ? [[each, values[i]]] : []));

/** The smallest and the largest of some numbers; null if there are none. */
export function extent(values) {
  const seen = values.filter(isNumber);
  return seen.length ? [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))] : null;
}

/** Some margin above and below; never a domain without width. */
function padded(seen, log = false) {
  const [low, high] = seen ?? [0, 1];
  if (log && low > 0) return [low / (high / low) ** 0.08 / 1.05, high * (high / low) ** 0.08 * 1.05];
  const air = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1;
  return [low - air, high + air];
}

/** A step of 1, 2 or 5 times a power of ten that cuts `width` into at most `most` parts. */
export function niceStep(width, most) {
  const rough = width / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((nice) => nice * power >= rough * (1 - 1e-9)) * power;
}

export function steps(low, high, step) {
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step || 0);
  return found;
}

/** The axis below a chart: `share` of a round, from 0 at the left to 1, `round` at a share, and ticks. */
function axisOf(first, last) {
  const width = Math.max(1, last - first);
  const share = (round) => (round - first) / width;
  const rounds = (most) => (last <= first ? [first] : steps(first, last, Math.max(1, niceStep(width, Math.min(6, most)))));
  return {
    share,
    round: (at) => Math.round(first + at * width),
    ticks: (most) => rounds(most).map((round) => [share(round), count(round)]),
  };
}

// --- the charts -----------------------------------------------------------------------------------
//
// A model has: axis, first, last (rounds), step (rounds of one drawn position), domain, log, bounds, band, dots,
// failed (rounds), line, ticks, format (of the label at the end), tick (of the axis),
// note, summary, and at(round), which gives the round, the height of the mark and the texts at the cursor.

const POSITIONS = 400;
const BAND_POSITIONS = 70;

/** What all charts of one redraw share. */
export function frameOf(study, history) {
  const { length: shown, last, round: [first] } = history;
  return {
    study, history, first, last,
    few: shown <= POSITIONS,
    recent: study.recent_rounds || 100,
    whole: first <= 1,
    axis: axisOf(first, last),
    step: Math.max(1, Math.ceil(shown / POSITIONS)),
    wide: Math.max(8, Math.ceil(shown / BAND_POSITIONS)),
    reach: `over rounds ${count(first)} to ${count(last)}, ${clock(history.time[0])} to ${clock(history.time.at(-1))}`,
  };
}

/** A formatter for the numbers beside an axis, which are round: zeros behind the point say nothing. */
function tickFormat([low, high], log) {
  const format = formatFor((high - low) * 2);
  return log ? number : (v) => format(v).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function base({ axis, first, last, step }, domain, log = false) {
  return { axis, first, last, step, domain, log, tick: tickFormat(domain, log) };
}

/** The text of a model at the cursor: short beside its title, in full for screen readers. */
function reading({ history }, i, y, short) {
  const time = clock(history.time[i]);
  return { round: history.round[i], y, short, text: `round ${count(history.round[i])}${time && ` at ${time}`}: ${short}` };
}

export function decisionModel(frame, column) {
  const { study, history } = frame;
  const name = study.columns[column];
  const range = study.ranges?.[column] ?? null;
  const log = Boolean(study.log?.[column]) && (!range || range[0] > 0);
  const [best, played] = [history.best[column], history.played[column]];
  const labels = study.labels?.[column] ?? [];
  // Of values without an order a band says nothing: each that was tried is a dot.
  const orderless = study.space?.parameters?.[name]?.kind === "choice";
  const tube = orderless ? [] : band(history.round, played, frame.wide);
  // With contexts the best guess is another one from round to round.
  const path = study.contexts ? [] : line(history.round, best, frame.step);
  const guesses = study.contexts ? points(history, best) : [];
  const seen = extent([...tube.flatMap(([, low, high]) => [low, high]), ...[...path, ...guesses].map(([, v]) => v)]);
  const domain = labels.length ? padded(range) : range ?? padded(seen, log);
  const format = range ? columnFormat(study, column) : formatFor(seen ? seen[1] - seen[0] : 0);
  const late = sorted(played.slice(-frame.recent));
  const between = !late.length ? "nothing" : labels.length ? shares(late, labels) : `${format(late[0])} to ${format(late.at(-1))}`;
  const span = labels.length ? labels.join(", ") : range ? `${number(range[0])} to ${number(range[1])}` : "";
  return {
    ...base(frame, domain, log),
    ...(labels.length ? labelled(labels, format) : {}),
    bounds: range && !labels.length ? range : [],
    band: tube,
    dots: study.contexts ? guesses : orderless || frame.few ? points(history, played) : [],
    line: path,
    format,
    note: `last ${late.length} tried: ${between}`,
    summary: `${name} ${frame.reach}. Best guess ${format(best.at(-1))}, at the beginning ${format(best[0])}. `
      + `The last ${late.length} tried: ${between}.${span && ` Allowed: ${span}.`}`,
    at: (round) => {
      const i = history.indexOf(round);
      return reading(frame, i, best[i], `tried ${format(played[i])}, best ${format(best[i])}`);
    },
  };
}

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

export function valueModel(frame) {
  const { study, history, few, recent } = frame;
  const usual = withoutFarOff(history.value);
  const mean = rollingMean(usual, recent, frame.whole);
  const path = line(history.round, mean, frame.step);
  const failed = history.round.filter((_, i) => history.failed[i]);
  const more = failed.length ? ` ${count(failed.length)} failed.` : "";
  const far = usual.filter((v, i) => v === null && isNumber(history.value[i])).length;
  const without = far ? ` without ${count(far)} far off` : "";
  return {
    ...base(frame, padded(extent([...usual, ...path.map(([, v]) => v)]))),
    band: few ? [] : band(history.round, history.value, frame.wide),
    dots: few ? points(history, history.value) : [],
    line: path,
    format: (v) => steady(v, 4),
    failed,
    failuresAbove: !study.maximize,
    note: `mean of ${recent}${without}, ${few ? "each value" : "5–95 % of the values"}.${more}`,
    summary: `Value ${frame.reach}. Mean of the last ${recent} rounds${without}: ${number(mean.at(-1))}, `
      + `at the beginning ${number(mean.find(isNumber))}. ${study.maximize ? "Larger" : "Smaller"} is better.${more}`,
    at: (round) => {
      const i = history.indexOf(round);
      const value = history.failed[i] ? "failed" : `value ${number(history.value[i])}`;
      return reading(frame, i, mean[i], `${value}, mean ${number(mean[i])}${history.paused[i] ? ", paused" : ""}`);
    },
  };
}
