// The page of one study: numbers, warnings, the best setting, charts, open trials.

import { poll, post, studyPath } from "./api.js";
import { Chart } from "./charts.js";
import { ago, count, duration, intervalText, isNumber, make, pairs, say, section, sense, setText, settingText, showState, stateOf, steady, table, upliftText } from "./dom.js";
import { decisionModel, extent, frameOf, History, valueModel } from "./series.js";

const MOST_CHARTS = 24;
const HINT = "Point at a chart, or focus it and use the arrow keys, to read one round.";

/** One study in `main`, live or from the data that a file has. */
export class StudyView {
  constructor(main, name, page, data = null) {
    Object.assign(this, { main, name, page, data, study: null, history: null, cursor: null });
    this.charts = [];
    this.known = { state: null, warnings: new Set() };
    this.build();
    this.outside = (event) => {
      if (!event.target.closest?.(".slider")) this.setCursor(null);
    };
    document.addEventListener("pointerdown", this.outside);
    if (data) return this.update(data);
    this.polling = poll(() => studyPath(name, `/page?after=${this.history?.last ?? 0}`), {
      update: (content) => this.update(content),
      problem: (problem) => this.problem(problem),
      state: page.connection,
    });
  }

  close() {
    this.closed = true;
    this.polling?.close();
    document.removeEventListener("pointerdown", this.outside);
  }

  // --- building -----------------------------------------------------------------------------------

  build() {
    this.state = make("p", { hidden: true });
    this.kind = make("p", { class: "kind" });
    this.trouble = make("p", { class: "trouble", role: "alert", hidden: true });
    this.warnings = make("ul", { class: "warnings", "aria-label": "Warnings", hidden: true });
    this.numbers = make("dl", { class: "numbers" });
    this.body = make("div", { class: "study-body", hidden: true }, this.numbers, this.warnings, this.buildTools(), this.buildOutcome(), this.buildDecisions(), ...this.buildTables());
    const head = make("div", { class: "study-head" },
      make("div", { class: "study-name" },
        this.data ? null : make("a", { class: "back", href: "#/", text: "All studies" }),
        make("div", { class: "study-line" }, make("h1", { text: this.name, tabindex: "-1" }), this.state, this.kind)),
      this.buildPause());
    this.main.replaceChildren(make("article", { class: "study" }, head, this.trouble, this.body));
  }

  buildPause() {
    this.pause = make("button", { type: "button", class: "button", text: "Pause", click: () => this.switchPause() });
    this.pauseWhy = make("p", { class: "pause-why", id: "pause-why" });
    this.pauseBox = make("div", { class: "pause", hidden: true }, this.pause, this.pauseWhy);
    return this.pauseBox;
  }

  buildTools() {
    this.cursorText = make("p", { class: "cursor-text", text: HINT });
    return make("div", { class: "tools" }, this.cursorText);
  }

  buildOutcome() {
    this.value = this.chart("Value", "value");
    this.best = table("Best setting", ["Decision", "At the start", "Best", "95 % interval", "Effect over its range"]);
    this.bestBox = make("div", { class: "best", hidden: true }, make("h3", { text: "Best setting" }), this.best.element);
    this.first = make("p", { class: "plain", text: "The charts begin with the first answer." });
    return section("Outcome", {}, null, this.first, make("div", { class: "charts charts-outcome" }, this.value.element, this.bestBox));
  }

  buildDecisions() {
    this.decisionBox = make("div", { class: "charts" });
    this.legend = make("p", { class: "legend" });
    return section("Decisions", { class: "decisions" }, this.legend, this.decisionBox);
  }

  buildTables() {
    this.contexts = table("Settings by context", ["Context", "Best setting"]);
    this.contextBox = section("Settings by context", { class: "contexts", hidden: true }, null, this.contexts.element);
    this.open = table("Open trials", ["Trial", "Setting", "Asked by", "Age"]);
    this.openNote = make("p", { class: "open-note", text: "none" });
    this.openBox = section("Open trials", { class: "open" }, make("p", { class: "legend", text: "Trials that wait for a value, oldest first." }), this.open.element, this.openNote);
    return [this.contextBox, this.openBox];
  }

  chart(title, hue) {
    const chart = new Chart({ title, hue, onCursor: (round) => this.setCursor(round) });
    this.charts.push(chart);
    return chart;
  }

  // --- what comes from the server -----------------------------------------------------------------

  update({ study, rounds, recommendation, open }) {
    Object.assign(this, { study, recommendation, received: Date.now() });
    this.trouble.hidden = true;
    // It was created again, or has other parameters: all its rounds are needed.
    const others = this.columns !== String(study.columns);
    if (others || this.history.last > study.rounds) {
      const again = this.history !== null && others;
      this.begin();
      if (again) return this.polling?.nudge(true);
    }
    this.history.add(rounds);
    this.showOpen(open);
    this.body.hidden = false;
    this.redraw();
  }

  /** A new history, and a chart for each of the first columns. */
  begin() {
    this.columns = String(this.study.columns);
    this.history = new History(this.study.columns.length);
    this.charts = [this.value];
    const names = this.study.columns.slice(0, MOST_CHARTS);
    this.decisions = names.map((name) => this.chart(name, "decision"));
    this.decisionBox.replaceChildren(...this.decisions.map((chart) => chart.element));
  }

  problem(problem) {
    if (this.page.refused(problem)) return;
    // Deleted, not for this visitor, or damaged: drop everything known about it.
    if ([403, 404, 410, 500].includes(problem.status)) {
      this.body.hidden = this.pauseBox.hidden = this.state.hidden = true;
      setText(this.kind, "");
      document.title = `${this.name} · dikin`;
    }
    setText(this.trouble, problem.message);
    this.trouble.hidden = false;
  }

  // --- showing ------------------------------------------------------------------------------------

  /** Draw once with the next frame, however often this is called. */
  redraw() {
    if (this.planned) return;
    this.planned = true;
    requestAnimationFrame(() => {
      this.planned = false;
      if (!this.closed) this.draw();
    });
  }

  draw() {
    this.showHead();
    this.showWarnings();
    this.showPause();
    this.showBest();
    this.showContexts();
    const empty = !this.history.length;
    this.first.hidden = !empty;
    this.body.classList.toggle("no-rounds", empty);
    if (!empty) this.showCharts();
    this.numbers.replaceChildren(...this.numberItems());
  }

  showCharts() {
    const frame = frameOf(this.study, this.history);
    if (this.cursor !== null) this.cursor = Math.min(frame.last, Math.max(frame.first, this.cursor));
    this.charts.forEach((chart) => (chart.at = this.cursor));
    this.value.show(valueModel(frame));
    const hidden = this.study.columns.length - this.decisions.length;
    setText(this.legend, (this.study.contexts ? "Dots: best guess in the context of a round." : "Line: best guess.")
      + ` Shade: what was tried, to explore.${hidden > 0 ? ` ${hidden} more are not drawn.` : ""}`);
    this.decisions.forEach((chart, i) => chart.show(decisionModel(frame, i)));
    this.showCursorText();
  }

  setCursor(round) {
    if (round === this.cursor) return;
    this.cursor = round;
    if (this.marking) return;
    this.marking = true;
    requestAnimationFrame(() => {
      this.marking = false;
      this.charts.forEach((chart) => chart.mark(this.cursor));
      this.showCursorText();
    });
  }

  showCursorText() {
    const text = this.cursor === null ? HINT : this.value.model?.at(this.cursor).text ?? HINT;
    this.cursorText.classList.toggle("at-cursor", text !== HINT);
    setText(this.cursorText, text[0].toUpperCase() + text.slice(1));
  }

  get later() {
    return this.data ? 0 : (Date.now() - this.received) / 1000;
  }

  showHead() {
    const { study } = this;
    const state = this.data ? { kind: study.paused ? "paused" : "fresh", word: `as of ${this.data.written}` } : stateOf(study, this.later);
    this.state.hidden = false;
    showState(this.state, "state", state);
    document.title = `${this.name} · ${state.word} · dikin`;
    // That a study waits between two answers is no news.
    const kind = state.kind === "idle" ? "playing" : state.kind;
    if (this.known.state && this.known.state !== kind) say(`${this.name}: ${state.word}`);
    this.known.state = kind;
    setText(this.kind, [sense(study), ...(study.limits ?? [])].join(", "));
  }

  /** The numbers at the top: the gain over the control first, where it is measured. */
  numberItems() {
    const { study } = this;
    const item = (name, value, note) => make("div", { class: "number" }, make("dt", { text: name }), make("dd", { class: "number-value", text: value }), note instanceof Node ? note : make("dd", { class: "number-note", text: note }));
    const known = (x, words) => (isNumber(x) ? words : "not known yet");
    const items = [];
    if (study.uplift) {
      const { value, sure } = upliftText(study.uplift);
      const arms = `${count(study.uplift.tuned_rounds)} tuned, ${count(study.uplift.held_back_rounds)} held back at ${settingText(study.control)}`;
      items.push(item("Gain over the control", value, `${sure}; ${arms}`));
    }
    if (!study.contexts) {
      const expected = intervalText(study.best_value);
      items.push(item("Expected value", expected?.value ?? "–", expected ? `at the best setting; ${expected.sure}` : "not known yet"));
    }
    this.told = make("dd", { class: "number-note", text: this.toldText() });
    items.push(item("Rounds", count(study.rounds), this.told));
    items.push(item(`Mean of the last ${count(study.recent_rounds || 100)}`, steady(study.recent_mean, 4), known(study.recent_mean, sense(study))));
    if (isNumber(study.certificate)) {
      const seen = extent(this.history.value);
      items.push(item("Certificate per round", steady(study.certificate / Math.max(1, study.rounds)), seen ? `proved; range of the values: ${steady(seen[1] - seen[0])}` : "proved"));
    }
    if (study.failed) items.push(item("Failed trials", count(study.failed), "timeouts and crashes"));
    if (study.left_out) items.push(item("Values left out", count(study.left_out), `of ${count(study.rounds)}, in whole or in part: they look like faults`));
    return items;
  }

  toldText() {
    const told = this.study.last_told_seconds;
    return isNumber(told) ? `last answer ${ago(told + this.later)}` : "no answer yet";
  }

  showWarnings() {
    const reason = this.study.guard_reason;
    const texts = [...(reason ? [reason] : []), ...this.study.warnings.filter((text) => text !== reason)];
    this.warnings.hidden = !texts.length;
    this.warnings.replaceChildren(...texts.map((text) => make("li", { text })));
    // The numbers in a warning move; only a warning of a new kind is news.
    const kinds = texts.map((text) => text.replace(/[\d.,]+/g, "#"));
    const fresh = texts.filter((_, i) => !this.known.warnings.has(kinds[i]));
    if (fresh.length) say(`Warning: ${fresh.join(". ")}`);
    this.known.warnings = new Set(kinds);
  }

  /** The best setting: its interval, its effect, and what is expected of metrics with a limit. */
  showBest() {
    const { study, recommendation: found } = this;
    this.bestBox.hidden = !found || !study.rounds;
    if (!found) return;
    const value = (text) => make("td", { class: "best-value", text });
    const effect = (name) => {
      const known = intervalText(found.importance[name]);
      return !known ? "–" : found.importance[name][1] > 0 ? `${known.value} (${known.ends})` : "none is known";
    };
    const decisions = pairs(study, study.center).map(([name, text]) =>
      [name, settingText({ "": startOf(study.start, name) }).trim(), value(text), intervalText(found.intervals[name])?.ends ?? "–", effect(name)]);
    const metrics = Object.entries(found.limits).map(([text, interval]) => {
      const known = intervalText(interval);
      const never = found.broken.includes(text);
      return [text, "", value(known?.value ?? "–"), known?.ends ?? "–", make("td", { class: never ? "broken" : null, text: never ? "no setting is known to keep it" : "" })];
    });
    this.best.fill([...decisions, ...metrics]);
  }

  showContexts() {
    const settings = Object.entries(this.study.by_context ?? {});
    this.contextBox.hidden = !settings.length;
    setText(this.contexts.head.firstChild, Object.keys(this.study.contexts ?? {}).join(", ") || "Context");
    this.contexts.fill(settings.map(([label, params]) => [label, make("td", { class: "setting", text: settingText(params) })]));
  }

  showOpen(trials) {
    const { count: total } = this.study.open;
    this.open.element.hidden = !trials.length;
    this.open.fill(trials.map((trial) => [
      String(trial.id), make("td", { class: "setting", text: settingText(trial.params) }),
      make("td", { class: "client", text: trial.client }), duration(trial.age_seconds),
    ]));
    this.openNote.hidden = trials.length > 0 && total <= trials.length;
    setText(this.openNote, trials.length ? `and ${count(total - trials.length)} more` : "none");
  }

  /** Each second: texts that change between two answers. */
  tick() {
    if (this.data || this.body.hidden || !this.told) return;
    this.showHead();
    setText(this.told, this.toldText());
  }

  // --- pause and resume ---------------------------------------------------------------------------

  showPause() {
    this.pauseBox.hidden = Boolean(this.data);
    const may = this.page.may("play");
    this.pause.disabled = !may;
    setText(this.pause, this.study.paused ? "Resume …" : "Pause …");
    setText(this.pauseWhy, may ? "" : `Your token may only read. To ${this.study.paused ? "resume" : "pause"}, use one with the right play.`);
    this.pause.setAttribute("aria-describedby", may ? "" : "pause-why");
  }

  async switchPause() {
    const { paused } = this.study;
    const question = paused
      ? `Resume ${this.name}? It explores and learns again from the next trial on.`
      : `Pause ${this.name}? From now on each trial gets the best setting, and nothing is learnt until you resume.`;
    if (!confirm(question)) return;
    try {
      await post(studyPath(this.name, paused ? "/resume" : "/pause"));
      this.polling.nudge();
    } catch (problem) {
      this.problem(problem);
    }
  }
}

/** The value at the start of a column: `traffic.new` is a share of `traffic`. */
function startOf(start, column) {
  if (column in start) return start[column];
  const name = Object.keys(start).find((each) => column.startsWith(`${each}.`));
  return name === undefined ? "" : start[name][column.slice(name.length + 1)] ?? "";
}
