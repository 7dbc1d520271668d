// Small helpers to build elements. All text goes through textContent, because names are user text.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element. `props`: `class`, `text`, event handlers as functions, all else attributes. */
export function make(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  apply(node, props);
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Make an SVG element. */
export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  apply(node, props);
  node.append(...children);
  return node;
}

function apply(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else if (key === "text") node.textContent = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
}

/** Set a text only when it differs: an unchanged text costs no layout. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set an attribute only when it differs. */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

const CLOCK = ["M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8m0 1.6a4.6 4.6 0 1 1 0 9.2 4.6 4.6 0 0 1 0-9.2M7.2 4.6h1.6v3.1l2.1 1.5-.9 1.3-2.8-2z"];
const ICONS = {
  playing: ["M5 3.2v9.6l8-4.8z"],
  paused: ["M4.2 3h2.6v10H4.2z", "M9.2 3h2.6v10H9.2z"],
  idle: CLOCK,
  quiet: CLOCK,
  broken: ["M3.6 2.4 8 6.8l4.4-4.4 1.2 1.2L9.2 8l4.4 4.4-1.2 1.2L8 9.2l-4.4 4.4-1.2-1.2L6.8 8 2.4 3.6z"],
  fresh: ["M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2m0 1.6a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4"],
  warning: ["M8 1.6 15 14H1zM7.2 6v4h1.6V6zm0 5v1.5h1.6V11z"],
  live: ["M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8"],
  waiting: ["M8 2.4a5.6 5.6 0 1 1-5.2 3.5l1.5.6A4 4 0 1 0 8 4z"],
};

/** A small picture beside a word; the word says the same, so it is hidden from screen readers. */
export function icon(name) {
  const node = svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" });
  setIcon(node, name);
  return node;
}

export function setIcon(node, name) {
  if (node.dataset.name === name) return;
  node.dataset.name = name;
  node.replaceChildren(...ICONS[name].map((d) => svg("path", { d, "fill-rule": "evenodd" })));
}

let spoken = "";

/** Tell screen readers one sentence. Only for changes of state, never for numbers that move. */
export function say(text) {
  if (text === spoken) return;
  spoken = text;
  document.getElementById("status").textContent = text;
}
