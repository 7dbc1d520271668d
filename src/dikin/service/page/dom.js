// Elements, and numbers, ages and states as words. All text goes through textContent, because names are user text.

/** Make an HTML element. `props`: `text`, event handlers as functions, all else attributes. */
export function make(tag, props = {}, ...children) {
  return complete(document.createElement(tag), props, children);
}

/** Make an SVG element. */
export function svg(tag, props = {}, ...children) {
  return complete(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function complete(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else if (key === "text") node.textContent = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** A section with a heading, and a note beside it. */
export function section(title, props, note, ...children) {
  const id = `h-${title.split(" ")[0].toLowerCase()}`;
  return make("section", { "aria-labelledby": id, ...props },
    make("div", { class: "section-head" }, make("h2", { id, text: title }), note), ...children);
}

/** A table in a region that can be scrolled, with the names of its columns and a body to fill. */
export function table(label, columns) {
  const body = make("tbody");
  const head = make("tr", {}, ...columns.map((text) => make("th", { scope: "col", text })));
  const element = make("div", { class: "table", role: "group", tabindex: "0", "aria-label": label },
    make("table", { "aria-label": label }, make("thead", {}, head), body));
  const cell = (part, i) => (part instanceof Node ? part : make(i ? "td" : "th", { scope: i ? null : "row", text: part }));
  return { element, head, fill: (rows) => body.replaceChildren(...rows.map((row) => make("tr", {}, ...row.map(cell)))) };
}

/** Set a text only when it differs: an unchanged text costs no layout. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Show a state, as a class and a word. */
export function showState(node, family, { kind, word }) {
  node.className = `${family} ${family}-${kind}`;
  setText(node, word);
}

let spoken = "";

/** Tell screen readers one sentence. Only for changes of state, never for numbers that move. */
export function say(text) {
  if (text !== spoken) document.getElementById("status").textContent = spoken = text;
}

// --- numbers --------------------------------------------------------------------------------------

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

/** Hyphens are too short beside digits. */
const minus = (text) => text.replaceAll("-", "−");

/** A number for people: four significant digits. */
export function number(x) {
  if (!isNumber(x)) return "–";
  const size = Math.abs(x);
  if (size >= 1e6) return minus(compact.format(x));
  return minus(size > 0 && size < 1e-3 ? x.toExponential(2) : plain.format(x));
}

/** A number that changes on screen: always the same number of digits, so that it does not jump. */
export function steady(x, digits = 3) {
  if (!isNumber(x) || x === 0 || Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) return number(x);
  return minus(x.toLocaleString("en", { minimumSignificantDigits: digits, maximumSignificantDigits: digits }));
}

export const count = (n) => (isNumber(n) ? whole.format(n) : "–");

/** A formatter with the decimals that a scale of this width needs. */
export function formatFor(width) {
  if (!isNumber(width) || width <= 0 || width >= 1e5 || width < 1e-3) return number;
  const decimals = Math.max(0, Math.ceil(-Math.log10(width / 150)));
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (x) => (isNumber(x) ? minus(format.format(x)) : "–");
}

/** The formatter of one column of a study. */
export function columnFormat(study, column) {
  const labels = study.labels?.[column] ?? [];
  // Between two levels, as on an axis, there is no label.
  if (labels.length) return (x) => (isNumber(x) ? short(labels[x] ?? "") : "–");
  const range = study.ranges?.[column];
  if (!range || study.log?.[column]) return number;
  const format = formatFor(range[1] - range[0]);
  return (x) => (Number.isInteger(x) ? count(x) : format(x));
}

/** A number with its interval, as `[number, low, high]`, for people; null where it is not known yet. */
export function intervalText(interval) {
  if (!interval?.every(isNumber)) return null;
  const [mean, low, high] = interval;
  const format = formatFor(8 * (high - low));
  const ends = `${format(low)} to ${format(high)}`;
  return { value: format(mean), ends, sure: `95 %: ${ends}` };
}

/** The gain over the control as a number and its interval: in per cent where that is known. */
export function upliftText(uplift) {
  const percent = [uplift.mean_percent, uplift.low_percent, uplift.high_percent];
  const unit = percent.every(isNumber) ? " %" : "";
  const [mean, low, high] = unit ? percent : [uplift.mean, uplift.low, uplift.high];
  if (!isNumber(low) || !isNumber(high)) return { value: "–", sure: "not known yet" };
  const format = formatFor(high - low);
  const signed = (x) => `${x > 0 ? "+" : ""}${format(x)}`;
  const sure = `${Math.round(100 * uplift.confidence)} %: ${signed(low)} to ${signed(high)}${unit}, may be read at any time`;
  return { value: `${signed(mean)}${unit}`, sure };
}

// --- words ----------------------------------------------------------------------------------------

/** A text that fits beside a chart. */
export const short = (text, most = 12) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const sense = (study) => (study.maximize ? "larger is better" : "smaller is better");
export const ago = (seconds) => (isNumber(seconds) ? `${duration(seconds)} ago` : "never");

/** A length of time: "2 s", "4 min", "2 h 5 min", "3 d". */
export function duration(seconds) {
  if (!isNumber(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} d`;
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

/** The state of a study as class and word. `later`: seconds since the status arrived. */
export function stateOf(study, later = 0) {
  if (study.problem) return { kind: "broken", word: "cannot be read" };
  if (study.guard_reason) return { kind: "paused", word: "held by the guard" };
  if (study.paused) return { kind: "paused", word: "paused" };
  if (!study.rounds) return { kind: "fresh", word: "no answers yet" };
  const since = isNumber(study.last_told_seconds) ? study.last_told_seconds + later : 0;
  if (since <= 10) return { kind: "playing", word: "running" };
  // Some studies are slow by nature, but a team should see that no answer has come for this long.
  return { kind: since > 15 * 60 ? "quiet" : "idle", word: `last answer ${ago(since)}` };
}

/** The values of a point as pairs of name and text. */
export const pairs = (study, point) => study.columns.map((name, i) => [name, columnFormat(study, i)(point[i])]);

/** A setting as one line of text: `{"price": 4.2, "traffic": {"old": 0.3}}` becomes "price 4.2, traffic.old 0.3". */
export const settingText = (params, before = "") => Object.entries(params ?? {}).map(([name, value]) =>
  value !== null && typeof value === "object" ? settingText(value, `${before}${name}.`) : `${before}${name} ${isNumber(value) ? number(value) : value}`).join(", ");

/** The time of day of a moment in unix seconds; with the day if it was not today. */
export function clock(seconds) {
  if (!isNumber(seconds)) return "";
  const moment = new Date(seconds * 1000);
  const time = moment.toLocaleTimeString("en-GB");
  return moment.toDateString() === new Date().toDateString() ? time : `${moment.toLocaleDateString("en-CA")} ${time}`;
}
