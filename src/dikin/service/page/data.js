// The rounds that the page remembers, and the statistics that the charts draw.

import { isNumber } from "./words.js";

export const KEEP = 2000;

/** The last rounds of one study, as columns. */
export class History {
  constructor(width) {
    this.round = [];
    this.value = [];
    this.failed = [];
    this.paused = [];
    this.time = [];
    this.played = Array.from({ length: width }, () => []);
    this.best = Array.from({ length: width }, () => []);
  }

  get length() {
    return this.round.length;
  }

  get last() {
    return this.round.at(-1) ?? null;
  }

  /** Add new rounds. Rounds that are known already may come again after a new connection. */
  add(rounds) {
    const known = this.last;
    const from = known === null ? 0 : rounds.round.findIndex((round) => round > known);
    if (from < 0 || !rounds.round.length) return;
    for (const key of ["round", "value", "failed", "paused", "time"]) {
      this[key] = joined(this[key], rounds[key], from);
    }
    for (const key of ["played", "best"]) {
      this[key] = this[key].map((column, i) => joined(column, rounds[key][i], from));
    }
  }

  /** The index of a round, or of the nearest known one. */
  indexOf(round) {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.round[middle] < round) low = middle + 1;
      else high = middle;
    }
    const before = this.round[low - 1];
    return low > 0 && round - before < this.round[low] - round ? low - 1 : low;
  }
}

const joined = (old, more, from) => old.concat(more.slice(from)).slice(-KEEP);

/** The mean of the last `width` entries at each entry; null where there is none. */
export function rollingMean(values, width, whole) {
  // If there are older rounds that the page does not have, the first means would use too few values.
  const first = whole || values.length <= width ? 0 : width - 1;
  let sum = 0;
  let known = 0;
  return values.map((value, i) => {
    if (isNumber(value)) [sum, known] = [sum + value, known + 1];
    const old = values[i - width];
    if (isNumber(old)) [sum, known] = [sum - old, known - 1];
    return known && i >= first ? sum / known : null;
  });
}

/**
 * Cut the entries from `from` on into buckets of `size` rounds.
 *
 * The cuts lie at multiples of `size`, so they do not move when new rounds come.
 */
export function buckets(round, from, size) {
  const found = [];
  for (let i = from; i < round.length; i++) {
    const key = Math.floor(round[i] / size);
    if (found.length && found.at(-1).key === key) found.at(-1).to = i + 1;
    else found.push({ key, from: i, to: i + 1 });
  }
  return found;
}

/** Buckets for statistics: the newest rounds join the last full bucket, as few rounds say little. */
function fullBuckets(round, from, size) {
  const found = buckets(round, from, size);
  const last = found.at(-1);
  if (found.length > 1 && last.to - last.from < size / 2) {
    found.pop();
    found.at(-1).to = last.to;
  }
  return found;
}

export const sorted = (values) => values.filter(isNumber).sort((a, b) => a - b);

/** A quantile of sorted values. */
export function quantile(values, q) {
  const place = (values.length - 1) * q;
  const low = Math.floor(place);
  const high = Math.min(low + 1, values.length - 1);
  return values[low] + (values[high] - values[low]) * (place - low);
}

/** How many times as far from the median as all others a few values must be to count as far off. */
const FAR = 10;

/** The values with null for those that are far off: two at most, or a fiftieth, and fewer than half. */
export function withoutFarOff(values) {
  const seen = sorted(values);
  const n = seen.length;
  if (!n) return values;
  const middle = quantile(seen, 0.5);
  const order = seen.map((value) => Math.abs(value - middle)).sort((a, b) => a - b);
  // If most values are equal, none is far off: all are drawn as they are.
  const far = order.findIndex((distance, i) => i >= Math.max(n - Math.max(2, Math.floor(n / 50)), Math.floor((n + 1) / 2) + 1)
    && distance > FAR * order[i - 1] && order[i - 1] > 1e-9 * Math.abs(middle));
  if (far < 0) return values;
  return values.map((value) => (isNumber(value) && Math.abs(value - middle) >= order[far] ? null : value));
}

/** The range of the values in each bucket, as `[round, low, high]`: 5 to 95 % of many, all of few. */
export function band(round, values, from, size) {
  const rows = [];
  for (const bucket of fullBuckets(round, from, size)) {
    const inside = sorted(values.slice(bucket.from, bucket.to));
    if (!inside.length) continue;
    const cut = inside.length >= 20 ? 0.05 : 0;
    const middle = (round[bucket.from] + round[bucket.to - 1]) / 2;
    rows.push([middle, quantile(inside, cut), quantile(inside, 1 - cut)]);
  }
  return stretched(rows, round[from], round.at(-1));
}

/** Let a band begin and end with the window, not half a bucket inside of it. */
function stretched(rows, first, last) {
  if (!rows.length) return rows;
  return [[first, ...rows[0].slice(1)], ...rows, [last, ...rows.at(-1).slice(1)]];
}

/** The last value of each bucket as `[round, value]`; null breaks the line. */
export function line(round, values, from, size) {
  return buckets(round, from, size).map(({ to }) => [round[to - 1], isNumber(values[to - 1]) ? values[to - 1] : null]);
}

/** The pauses as `[first round, last round]`. */
export function pauses(history, from) {
  const found = [];
  for (let i = from; i < history.length; i++) {
    if (!history.paused[i]) continue;
    if (i > from && history.paused[i - 1]) found.at(-1)[1] = history.round[i];
    else found.push([history.round[i], history.round[i]]);
  }
  return found;
}

/** The smallest and the largest of some numbers; null if there are none. */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!isNumber(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
