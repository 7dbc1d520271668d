// The page of one study: numbers, warnings, charts, open trials.

import { follow, get, post, studyPath } from "./api.js";
import { BestSetting } from "./best.js";
import { Chart } from "./charts.js";
import { extent, History, KEEP } from "./data.js";
import { icon, make, say, setAttribute, setIcon, setText } from "./dom.js";
import { certificateOf, decisionModel, frameOf, valueModel } from "./models.js";
import { ago, count, duration, intervalText, isNumber, sense, settingText, stateOf, steady, upliftText } from "./words.js";

const FIRST_CHARTS = 6;
const OPEN_EVERY_MS = 5000;
/** So many contexts has a status. */
const MOST_CONTEXTS = 16;
const GONE = [403, 404, 410];

// The reader's choice is kept while other studies are shown.
const choice = { rounds: KEEP, timed: false, fitted: false };

/** Show one study in `main`; returns what the page needs to remove it. */
export function openStudy(main, name, page) {
  const view = new StudyView(main, name, page);
  return { close: () => view.close(), tick: () => view.tick(), nudge: () => view.nudge() };
}

class StudyView {
  constructor(main, name, page) {
    Object.assign(this, { main, name, page });
    this.study = null;
    this.history = null;
    this.charts = [];
    this.cursor = null;
    this.all = false;
    this.opened = -Infinity;
    this.known = { state: null, warnings: new Set() };
    this.build();
    this.stream = follow(studyPath(name, "/events"), {
      update: (update) => this.update(update),
      problem: (problem) => this.problem(problem),
      state: (state) => page.connection(state),
    });
    this.outside = (event) => {
      if (!event.target.closest?.(".slider")) this.setCursor(null);
    };
    document.addEventListener("pointerdown", this.outside);
  }

  close() {
    this.closed = true;
    this.stream.close();
    this.charts.forEach((chart) => chart.close());
    document.removeEventListener("pointerdown", this.outside);
  }

  nudge() {
    this.stream.nudge();
    this.redraw();
  }

  // --- building -----------------------------------------------------------------------------------

  build() {
    this.title = make("h1", { text: this.name, tabindex: "-1" });
    this.stateIcon = icon("fresh");
    this.stateWord = make("span");
    this.state = make("p", { class: "state state-fresh", hidden: true }, this.stateIcon, this.stateWord);
    this.kind = make("p", { class: "kind" });
    this.trouble = make("p", { class: "trouble", role: "alert", hidden: true });
    this.warnings = make("ul", { class: "warnings", "aria-label": "Warnings", hidden: true });
    this.body = make("div", { class: "study-body", hidden: true });
    this.wait = make("p", { class: "plain", text: "Reading the study …" });
    const head = make("div", { class: "study-head" },
      make("div", { class: "study-name" },
        make("a", { class: "back", href: "#/", text: "All studies" }),
        make("div", { class: "study-line" }, this.title, this.state, this.kind)),
      this.buildPause());
    this.body.append(this.buildNumbers(), this.warnings, this.buildTools(), this.buildOutcome(), this.buildDecisions(), this.buildContexts(), this.buildOpen());
    this.main.replaceChildren(make("article", { class: "study" }, head, this.trouble, this.wait, this.body), this.buildDialog());
  }

  buildPause() {
    this.pause = make("button", { type: "button", class: "button", text: "Pause", click: () => this.ask() });
    this.pauseWhy = make("p", { class: "pause-why", id: "pause-why" });
    this.pauseBox = make("div", { class: "pause", hidden: true }, this.pause, this.pauseWhy);
    return this.pauseBox;
  }

  buildNumbers() {
    const item = (label) => {
      const value = make("dd", { class: "number-value" });
      const note = make("dd", { class: "number-note" });
      const name = make("dt", { text: label });
      return { name, value, note, element: make("div", { class: "number" }, name, value, note) };
    };
    this.numbers = {
      uplift: item("Gain over the control"), expected: item("Expected value"), rounds: item("Rounds"),
      mean: item("Mean of the last rounds"), certificate: item("Certificate per round"),
      failed: item("Failed trials"), leftOut: item("Values left out"),
    };
    return make("dl", { class: "numbers" }, ...Object.values(this.numbers).map((n) => n.element));
  }

  buildTools() {
    this.cursorText = make("p", { class: "cursor-text" });
    setText(this.cursorText, "Point at a chart, or focus it and use the arrow keys, to read one round.");
    return make("div", { class: "tools" }, this.cursorText,
      radios("Rounds", "rounds", [["last 200", 200], ["last 2,000", KEEP]], choice.rounds, (v) => this.choose({ rounds: v })),
      radios("Over", "over", [["rounds", false], ["time", true]], choice.timed, (v) => this.choose({ timed: v })),
      radios("Axes of decisions", "axes", [["whole range", false], ["close up", true]], choice.fitted, (v) => this.choose({ fitted: v })));
  }

  buildOutcome() {
    this.value = this.chart("Value", "value");
    this.best = new BestSetting();
    this.outcomeBox = make("div", { class: "charts charts-outcome" }, this.value.element, this.best.element);
    this.grey = make("p", { class: "legend", text: "Grey: paused.", hidden: true });
    return make("section", { "aria-labelledby": "h-outcome" },
      make("div", { class: "section-head" }, make("h2", { id: "h-outcome", text: "Outcome" }), this.grey), this.buildFirst(), this.outcomeBox);
  }

  /** What to do before anything has been played. */
  buildFirst() {
    const at = `${location.origin}${studyPath(this.name, "")}`;
    const lines = [
      `curl -X POST ${at}/ask`,
      `curl -X POST ${at}/tell -H 'Content-Type: application/json' -d '{"id": 0, "value": 512}'`,
    ];
    return make("div", { class: "first" },
      make("p", { text: "The charts begin with the first answer. Ask for a setting, use it, and tell the value that it gave:" }),
      make("pre", { tabindex: "0", "aria-label": "Commands" }, make("code", { text: lines.join("\n") })));
  }

  buildDecisions() {
    this.decisionBox = make("div", { class: "charts" });
    this.more = make("button", { type: "button", class: "button quiet", hidden: true, click: () => this.showAll() });
    this.legend = make("p", { class: "legend" });
    return make("section", { class: "decisions", "aria-labelledby": "h-decisions" },
      make("div", { class: "section-head" }, make("h2", { id: "h-decisions", text: "Decisions" }), this.legend),
      this.decisionBox, this.more);
  }

  /** The best setting in each context, if the tuner has any. */
  buildContexts() {
    this.contextRows = make("tbody");
    this.contextName = make("th", { scope: "col" });
    const head = make("tr", {}, this.contextName, make("th", { scope: "col", text: "Best setting" }));
    this.contextNote = make("p", { class: "legend" });
    this.contextBox = make("section", { class: "contexts", "aria-labelledby": "h-contexts", hidden: true },
      make("div", { class: "section-head" }, make("h2", { id: "h-contexts", text: "Settings by context" }), this.contextNote),
      make("table", { "aria-labelledby": "h-contexts" }, make("thead", {}, head), this.contextRows));
    return this.contextBox;
  }

  buildOpen() {
    this.openRows = make("tbody");
    const head = ["Trial", "Setting", "Asked by", "Age"].map((text) => make("th", { scope: "col", text }));
    this.openTable = make("table", { "aria-labelledby": "h-open", hidden: true }, make("thead", {}, make("tr", {}, ...head)), this.openRows);
    this.openNote = make("p", { class: "open-note", text: "none" });
    return make("section", { class: "open", "aria-labelledby": "h-open" },
      make("div", { class: "section-head" }, make("h2", { id: "h-open", text: "Open trials" }),
        make("p", { class: "legend", text: "Trials that wait for a value, oldest first." })),
      this.openTable, this.openNote);
  }

  buildDialog() {
    this.dialogTitle = make("h2", { id: "dialog-title" });
    this.dialogText = make("p", { id: "dialog-text" });
    this.dialogTrouble = make("p", { class: "trouble", role: "alert", hidden: true });
    this.dialogDo = make("button", { type: "button", class: "button strong", click: () => this.switchPause() });
    const cancel = make("button", { type: "button", class: "button", text: "Cancel", click: () => this.dialog.close() });
    this.dialog = make("dialog", { "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text" },
      this.dialogTitle, this.dialogText, this.dialogTrouble, make("div", { class: "dialog-buttons" }, cancel, this.dialogDo));
    return this.dialog;
  }

  chart(title, hue) {
    const chart = new Chart({ title, hue, onCursor: (round) => this.setCursor(round) });
    this.charts.push(chart);
    return chart;
  }

  // --- what comes from the server -----------------------------------------------------------------

  update({ study, rounds }) {
    if (this.closed) return;
    this.received = Date.now();
    this.trouble.hidden = true;
    const before = this.study;
    this.study = study;
    if (study.problem) return this.unreadable();
    if (this.isAnother(before)) {
      this.begin();
      this.stream.restart();
      return;
    }
    if (!this.history) this.begin();
    this.history.add(rounds);
    const first = this.body.hidden;
    this.body.hidden = false;
    this.wait.hidden = true;
    this.redraw();
    if (first) this.tick();
  }

  /** The study was deleted and created again, or has become readable: all its rounds are needed. */
  isAnother(before) {
    if (!before) return false;
    return !this.history || this.columns !== String(this.study.columns) || before.rounds > this.study.rounds;
  }

  /** A new history, and a chart for each of the first columns. */
  begin() {
    this.columns = String(this.study.columns);
    this.history = new History(this.study.columns.length);
    this.decisions?.forEach((chart) => chart.close());
    this.charts = [this.value];
    this.decisions = [];
    this.decisionBox.replaceChildren();
    this.addDecisions();
  }

  addDecisions() {
    const { columns } = this.study;
    const shown = this.all ? columns.length : Math.min(FIRST_CHARTS, columns.length);
    for (const name of columns.slice(this.decisions.length, shown)) {
      const chart = this.chart(name, "decision");
      this.decisions.push(chart);
      this.decisionBox.append(chart.element);
    }
    // Rows of three line up with the outcome; other counts look better in rows of two or four.
    this.decisionBox.classList.toggle("two", shown <= 2);
    this.decisionBox.classList.toggle("four", shown === 4 || shown > FIRST_CHARTS);
    this.more.hidden = shown >= columns.length;
    setText(this.more, `Show all ${columns.length} decisions`);
  }

  showAll() {
    const next = this.decisions.length;
    this.all = true;
    this.addDecisions();
    this.redraw();
    // The button is gone now; the first new chart takes the focus over.
    this.decisions[next]?.slider.focus();
  }

  unreadable() {
    this.hideAll();
    this.fail(this.study.problem);
    this.showState();
  }

  hideAll() {
    this.wait.hidden = this.body.hidden = this.pauseBox.hidden = true;
  }

  problem(problem) {
    if (this.closed || this.page.refused(problem)) return;
    this.wait.hidden = true;
    if (GONE.includes(problem.status)) this.gone();
    this.fail(problem.message);
  }

  /** The study was deleted, or is not for this visitor: drop everything known about it. */
  gone() {
    this.hideAll();
    this.state.hidden = true;
    setText(this.kind, "");
    document.title = `${this.name} · dikin`;
  }

  fail(text) {
    setText(this.trouble, text);
    this.trouble.hidden = false;
  }

  // --- showing ------------------------------------------------------------------------------------

  choose(part) {
    Object.assign(choice, part);
    // The reader asked for other rounds: the summaries may change at once.
    this.charts.forEach((chart) => (chart.spoken = -Infinity));
    this.setCursor(null);
    this.redraw();
  }

  /** Draw once with the next frame, however often this is called; not while the page is hidden. */
  redraw() {
    if (this.planned || this.closed || document.hidden || !this.history || this.study.problem) return;
    this.planned = true;
    requestAnimationFrame(() => {
      this.planned = false;
      if (!this.closed) this.draw();
    });
  }

  draw() {
    this.showState();
    this.showWarnings();
    this.showPause();
    this.showContexts();
    const empty = !this.history.length;
    this.body.classList.toggle("no-rounds", empty);
    if (!empty) this.showCharts();
    this.showNumbers();
  }

  showContexts() {
    const settings = Object.entries(this.study.by_context ?? {});
    this.contextBox.hidden = !settings.length;
    setText(this.contextName, Object.keys(this.study.contexts ?? {}).join(", "));
    setText(this.contextNote, settings.length === MOST_CONTEXTS ? `The first ${MOST_CONTEXTS}.` : "");
    this.contextRows.replaceChildren(...settings.map(([label, params]) => make("tr", {},
      make("th", { scope: "row", text: label }), make("td", { class: "setting", text: settingText(params) }))));
  }

  showCharts() {
    const frame = frameOf(this.study, this.history, choice.rounds, choice.timed);
    this.grey.hidden = !frame.pauses.length;
    if (this.cursor !== null) this.cursor = Math.min(frame.last, Math.max(frame.first, this.cursor));
    this.charts.forEach((chart) => (chart.at = this.cursor));
    this.value.show(valueModel(frame));
    setText(this.legend, this.study.contexts ? "Dots: best guess in the context of a round. Shade: what was tried." : "Line: best guess. Shade: what was tried, to explore.");
    this.decisions.forEach((chart, i) => chart.show(decisionModel(frame, i, choice.fitted)));
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
    const at = this.cursor === null ? null : this.value.model?.at(this.cursor);
    this.cursorText.classList.toggle("at-cursor", Boolean(at));
    setText(this.cursorText, at ? upper(at.text) : "Point at a chart, or focus it and use the arrow keys, to read one round.");
  }

  get later() {
    return (Date.now() - this.received) / 1000;
  }

  showState() {
    const state = stateOf(this.study, this.later);
    this.state.hidden = false;
    setAttribute(this.state, "class", `state state-${state.kind}`);
    setIcon(this.stateIcon, state.kind);
    setText(this.stateWord, state.word);
    document.title = `${this.name} · ${state.word} · dikin`;
    // That a study waits between two answers is no news.
    const kind = state.kind === "idle" ? "playing" : state.kind;
    if (this.known.state && this.known.state !== kind) say(`${this.name}: ${state.word}`);
    this.known.state = kind;
    if (this.study.problem) return setText(this.kind, "");
    setText(this.kind, [sense(this.study), ...(this.study.limits ?? [])].join(", "));
  }

  showNumbers() {
    const { study, numbers } = this;
    const seen = extent(this.history.value);
    const fill = ({ value, note }, x, words, digits = 3) => {
      setText(value, steady(x, digits));
      setText(note, isNumber(x) ? words : "not known yet");
    };
    this.showUplift();
    setText(numbers.mean.name, `Mean of the last ${count(study.recent_rounds || 100)}`);
    this.showAges();
    fill(numbers.mean, study.recent_mean, sense(study), 4);
    const expected = intervalText(study.best_value);
    setText(numbers.expected.value, expected?.value ?? "–");
    setText(numbers.expected.note, expected ? `at the best setting; ${expected.sure}` : "not known yet");
    // With contexts, each has a best setting of its own.
    numbers.expected.element.hidden = Boolean(study.contexts);
    fill(numbers.certificate, certificateOf(study), seen ? `proved; range of the values: ${steady(seen[1] - seen[0])}` : "proved");
    numbers.certificate.element.hidden = !isNumber(study.certificate);
    const some = ({ element, value, note }, n, words) => {
      setText(value, count(n));
      setText(note, words);
      element.hidden = !n;
    };
    some(numbers.failed, study.failed, "of the last 10,000");
    some(numbers.leftOut, study.left_out, `of ${count(study.rounds)}, in whole or in part: they look like faults`);
  }

  /** What a tuned round gains over the control, where there is one: the first number. */
  showUplift() {
    const { study: { uplift }, numbers: { uplift: item } } = this;
    item.element.hidden = !uplift;
    if (!uplift) return;
    const { value, sure } = upliftText(uplift);
    setText(item.value, value);
    setText(item.note, `${sure}; ${count(uplift.tuned_rounds)} tuned, ${count(uplift.held_back_rounds)} held back`);
  }

  /** Texts that change between two events. */
  showAges() {
    const { study, later } = this;
    setText(this.numbers.rounds.value, count(study.rounds));
    const told = isNumber(study.last_told_seconds) ? `last answer ${ago(study.last_told_seconds + later)}` : "no answer yet";
    setText(this.numbers.rounds.note, told);
  }

  showWarnings() {
    const texts = this.study.warnings ?? [];
    this.warnings.hidden = !texts.length;
    if (texts.join("\n") === this.warned) return;
    this.warned = texts.join("\n");
    this.warnings.replaceChildren(...texts.map((text) => make("li", {}, icon("warning"), make("span", { text }))));
    // The numbers in a warning move; only a warning of a new kind is news.
    const kinds = texts.map((text) => text.replace(/[\d.,]+/g, "#"));
    const fresh = texts.filter((_, i) => !this.known.warnings.has(kinds[i]));
    if (fresh.length) say(`Warning: ${fresh.join(". ")}`);
    this.known.warnings = new Set(kinds);
  }

  // --- each second --------------------------------------------------------------------------------

  tick() {
    if (this.body.hidden || document.hidden) return;
    this.showState();
    this.showAges();
    if (performance.now() - this.opened > OPEN_EVERY_MS) this.load();
  }

  /** What is not part of the stream, every few seconds. */
  load() {
    this.opened = performance.now();
    this.loadOpen();
    // With contexts, each has a best setting of its own.
    if (this.study.rounds && !this.study.contexts) this.best.load(this.study, (problem) => this.page.refused(problem));
  }

  async loadOpen() {
    try {
      const open = await get(studyPath(this.name, "/open?limit=20"));
      if (!this.closed) this.showOpen(open);
    } catch (problem) {
      // The connection already shows that the server is unavailable; this must only not look up to date.
      if (!this.closed && !this.page.refused(problem)) this.openTable.classList.add("stale");
    }
  }

  showOpen({ queries, total }) {
    this.openTable.classList.remove("stale");
    this.openTable.hidden = !queries.length;
    this.openRows.replaceChildren(...queries.map((query) => make("tr", {},
      make("td", { class: "digits", text: String(query.id) }),
      make("td", { class: "setting", text: settingText(query.params) }),
      make("td", { class: "client", text: query.client ?? "" }),
      make("td", { class: "digits", text: duration(query.age_seconds) }))));
    const more = total - queries.length;
    this.openNote.hidden = queries.length > 0 && more <= 0;
    setText(this.openNote, queries.length ? `and ${count(more)} more` : "none");
  }

  // --- pause and resume ---------------------------------------------------------------------------

  showPause() {
    const { study } = this;
    this.pauseBox.hidden = false;
    const may = this.page.may("play");
    this.pause.disabled = !may;
    setText(this.pause, study.paused ? "Resume …" : "Pause …");
    setText(this.pauseWhy, may ? "" : `Your token may only read. To ${study.paused ? "resume" : "pause"}, use one with the right play.`);
    if (!may) setAttribute(this.pause, "aria-describedby", "pause-why");
    else this.pause.removeAttribute("aria-describedby");
  }

  ask() {
    this.toPause = !this.study.paused;
    setText(this.dialogTitle, this.toPause ? `Pause ${this.name}?` : `Resume ${this.name}?`);
    setText(this.dialogText, this.toPause
      ? "From now on each trial gets the best setting, and nothing is learnt until you resume."
      : "It explores and learns again from the next trial on.");
    setText(this.dialogDo, this.toPause ? "Pause" : "Resume");
    this.dialogTrouble.hidden = true;
    this.dialog.showModal();
  }

  async switchPause() {
    this.dialogDo.disabled = true;
    try {
      const { paused } = await post(studyPath(this.name, this.toPause ? "/pause" : "/resume"));
      this.study = { ...this.study, paused };
      this.dialog.close();
      this.redraw();
    } catch (problem) {
      if (this.page.refused(problem)) return;
      setText(this.dialogTrouble, problem.message);
      this.dialogTrouble.hidden = false;
    } finally {
      this.dialogDo.disabled = false;
    }
  }
}

const upper = (text) => text[0].toUpperCase() + text.slice(1);

/** A row of radio buttons that looks like a switch. */
function radios(legend, name, options, chosen, onChoose) {
  const items = options.map(([text, value]) => make("label", {},
    make("input", { type: "radio", name, checked: value === chosen, change: () => onChoose(value) }), make("span", { text })));
  return make("fieldset", { class: "radios" }, make("legend", { text: legend }), make("div", { class: "radio-row" }, ...items));
}
