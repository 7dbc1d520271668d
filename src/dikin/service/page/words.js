// Numbers, ages and states as words.

// Some studies are slow by nature, but a team should see that no answer has come for this long.
const LONG_SECONDS = 15 * 60;
// After this long without an answer it is not certain that anybody plays.
const PLAYING_SECONDS = 10;

const NONE = "–";

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

/** A number for people: four significant digits. */
export function number(x) {
  if (!isNumber(x)) return NONE;
  const size = Math.abs(x);
  if (size >= 1e6) return minus(compact.format(x));
  if (size > 0 && size < 1e-3) return minus(x.toExponential(2));
  return minus(plain.format(x));
}

/** A number that changes on screen: always the same number of digits, so that it does not jump. */
export function steady(x, digits = 3) {
  if (!isNumber(x) || x === 0 || Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) return number(x);
  return minus(x.toLocaleString("en", { minimumSignificantDigits: digits, maximumSignificantDigits: digits }));
}

export const count = (n) => (isNumber(n) ? whole.format(n) : NONE);

/** Hyphens are too short beside digits. */
const minus = (text) => text.replaceAll("-", "−");

/** A formatter with the decimals that a scale of this width needs. */
export function formatFor(width) {
  if (!isNumber(width) || width <= 0 || width >= 1e5 || width < 1e-3) return number;
  const decimals = Math.max(0, Math.ceil(-Math.log10(width / 150)));
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (x) => (isNumber(x) ? minus(format.format(x)) : NONE);
}

/** The formatter of one column of a study. */
export function columnFormat(study, column) {
  const labels = study.labels?.[column] ?? [];
  // Between two levels, as on an axis, there is no label.
  if (labels.length) return (x) => (isNumber(x) ? short(labels[x] ?? "") : NONE);
  const range = study.ranges?.[column];
  if (!range || study.log?.[column]) return number;
  const format = formatFor(range[1] - range[0]);
  // Decisions that are whole numbers need no decimals.
  return (x) => (Number.isInteger(x) ? count(x) : format(x));
}

/** A text that fits beside a chart. */
export const short = (text, most = 12) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A length of time: "2 s", "4 min", "2 h 5 min", "3 d". */
export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

export const ago = (seconds) => (isNumber(seconds) ? `${duration(seconds)} ago` : "never");

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** The state of a study as icon and word. `later`: seconds since the status arrived. */
export function stateOf(study, later = 0) {
  if (study.problem) return { kind: "broken", word: "cannot be read" };
  if (study.guard_reason) return { kind: "paused", word: "held by the guard" };
  if (study.paused) return { kind: "paused", word: "paused" };
  if (!study.rounds) return { kind: "fresh", word: "no answers yet" };
  const since = isNumber(study.last_told_seconds) ? study.last_told_seconds + later : 0;
  if (since <= PLAYING_SECONDS) return { kind: "playing", word: "running" };
  return { kind: since > LONG_SECONDS ? "quiet" : "idle", word: `last answer ${ago(since)}` };
}

/** The gain over the control as a number and its interval: in per cent where that is known. */
export function upliftText(uplift) {
  const percent = [uplift.mean_percent, uplift.low_percent, uplift.high_percent];
  const inPercent = percent.every(isNumber);
  const [mean, low, high] = inPercent ? percent : [uplift.mean, uplift.low, uplift.high];
  if (!isNumber(low) || !isNumber(high)) return { value: NONE, sure: "not known yet" };
  const unit = inPercent ? " %" : "";
  const format = formatFor(high - low);
  const signed = (x) => `${x > 0 ? "+" : ""}${format(x)}`;
  const sure = `${Math.round(100 * uplift.confidence)} %: ${signed(low)} to ${signed(high)}${unit}, valid at any time`;
  return { value: `${signed(mean)}${unit}`, sure };
}

/** A number with its 95 % interval, as `[number, low, high]`, for people; null where it is not known yet. */
export function intervalText(interval) {
  if (!interval?.every(isNumber)) return null;
  const [mean, low, high] = interval;
  const format = formatFor(8 * (high - low));
  const ends = `${format(low)} to ${format(high)}`;
  return { value: format(mean), ends, sure: `95 %: ${ends}` };
}

export const sense = (study) => (study.maximize ? "larger is better" : "smaller is better");

/** The best guess as pairs of name and text. */
export const bestPairs = (study) => study.columns.map((name, i) => [name, columnFormat(study, i)(study.center[i])]);

/** A setting as one line of text: `{"price": 4.2, "traffic": {"old": 0.3}}` becomes "price 4.2, traffic.old 0.3". */
export const settingText = (params) =>
  flat(params).map(([name, value]) => `${name} ${isNumber(value) ? number(value) : value}`).join(", ");

function flat(params, before = "") {
  return Object.entries(params).flatMap(([name, value]) =>
    value !== null && typeof value === "object" ? flat(value, `${before}${name}.`) : [[before + name, value]]);
}

/** The time of day of a moment in unix seconds; with the day if it was not today. */
export function clock(seconds) {
  if (!isNumber(seconds)) return "";
  const moment = new Date(seconds * 1000);
  const time = moment.toLocaleTimeString("en-GB");
  const today = moment.toDateString() === new Date().toDateString();
  return today ? time : `${moment.toLocaleDateString("en-CA")} ${time}`;
}
