// The best setting of a study: how sure it is, what matters, and what is expected of metrics with a limit.

import { get, studyPath } from "./api.js";
import { make } from "./dom.js";
import { bestPairs, intervalText } from "./words.js";

const HEAD = ["Decision", "Best", "95 % interval", "Effect over its range"];

/** A table that asks for its content itself; it is hidden until the first answer. */
export class BestSetting {
  constructor() {
    this.rows = make("tbody");
    const head = make("tr", {}, ...HEAD.map((text) => make("th", { scope: "col", text })));
    this.element = make("div", { class: "best", role: "region", tabindex: "0", "aria-labelledby": "h-best", hidden: true },
      make("h3", { id: "h-best", text: "Best setting" }),
      make("table", { "aria-labelledby": "h-best" }, make("thead", {}, head), this.rows));
  }

  async load(study, refused) {
    try {
      this.show(study, await get(studyPath(study.name, "/recommend")));
    } catch (problem) {
      if (!refused(problem)) this.element.classList.add("stale");
    }
  }

  show(study, { intervals, importance, limits, broken }) {
    this.element.classList.remove("stale");
    this.element.hidden = false;
    const decisions = bestPairs(study).map(([name, text]) => row(name, text, intervals[name], effect(importance[name])));
    const metrics = Object.entries(limits).map(([text, found]) => {
      const never = broken.includes(text);
      return row(text, intervalText(found)?.value ?? "–", found, never ? "no setting is known to keep it" : "", never);
    });
    this.rows.replaceChildren(...decisions, ...metrics);
  }
}

function row(name, value, interval, note, broken = false) {
  return make("tr", {}, make("th", { scope: "row", text: name }), make("td", { class: "best-value", text: value }),
    make("td", { text: ends(interval) }), make("td", { class: broken ? "broken" : null, text: note }));
}

/** The ends of an interval. */
function ends(interval) {
  return intervalText(interval)?.ends ?? "–";
}

/** The difference in the value over the range of a decision, where one is known. */
function effect(interval) {
  const known = intervalText(interval);
  if (!known) return "–";
  return interval[1] > 0 ? `${known.value} (${known.ends})` : "none is known";
}
