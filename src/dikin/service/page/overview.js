// The overview: every study as a card.

import { get } from "./api.js";
import { icon, make, setAttribute, setIcon, setText } from "./dom.js";
import { ago, bestPairs, count, duration, intervalText, isNumber, plural, sense, stateOf, steady, upliftText } from "./words.js";

const EVERY_MS = 5000;
const SHOWN_NAMES = 6;
const PAGE = 50;

/** Show all studies in `main`; returns what the page needs to remove it. */
export function openOverview(main, page) {
  const view = new Overview(main, page);
  return { close: () => (view.closed = true), tick: () => view.tick(), nudge: () => view.load() };
}

class Overview {
  constructor(main, page) {
    this.page = page;
    this.cards = new Map();
    this.failures = 0;
    this.loaded = -Infinity;
    this.build(main);
    page.connection({ kind: "connecting", failures: 0 });
    this.load();
  }

  build(main) {
    this.title = make("h1", { text: "Studies", tabindex: "-1" });
    this.summary = make("p", { class: "summary" });
    this.trouble = make("p", { class: "trouble", role: "alert", hidden: true });
    this.list = make("ul", { class: "cards" });
    this.empty = emptyState();
    this.wait = make("p", { class: "plain", text: "Reading the studies …" });
    main.replaceChildren(
      make("div", { class: "overview-head" }, this.title, this.summary),
      this.trouble, this.wait, this.empty, this.list);
    document.title = "Studies · dikin";
  }

  tick() {
    if (document.hidden) return;
    for (const card of this.cards.values()) card.tick();
    if (performance.now() - this.loaded >= EVERY_MS - 100) this.load();
  }

  async load() {
    if (this.loading || this.closed) return;
    this.loading = true;
    this.loaded = performance.now();
    try {
      this.show(await allStudies());
    } catch (problem) {
      this.fail(problem);
    } finally {
      this.loading = false;
    }
  }

  fail(problem) {
    if (this.closed || this.page.refused(problem)) return;
    this.failures += 1;
    this.page.connection({ kind: "waiting", until: Date.now() + EVERY_MS, failures: this.failures });
    if (problem.status === 0) return;
    setText(this.trouble, problem.message);
    this.trouble.hidden = false;
    this.wait.hidden = true;
  }

  show(studies) {
    if (this.closed) return;
    this.failures = 0;
    this.page.connection({ kind: "live", failures: 0 });
    this.trouble.hidden = this.wait.hidden = true;
    this.empty.hidden = studies.length > 0;
    this.keep(studies.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })));
    this.summarize();
  }

  /** Change the cards in place, so that focus and scroll stay where they are. */
  keep(studies) {
    const names = new Set(studies.map((study) => study.name));
    for (const [name, card] of this.cards) {
      if (names.has(name)) continue;
      card.element.remove();
      this.cards.delete(name);
    }
    studies.forEach((study, i) => {
      if (!this.cards.has(study.name)) this.cards.set(study.name, new Card(study.name));
      const card = this.cards.get(study.name);
      card.update(study);
      if (this.list.children[i] !== card.element) this.list.insertBefore(card.element, this.list.children[i] ?? null);
    });
  }

  summarize() {
    const total = this.cards.size;
    const playing = [...this.cards.values()].filter((card) => card.kind === "playing").length;
    setText(this.summary, total ? `${plural(total, "study", "studies")}, ${count(playing)} running` : "");
  }
}

/** All pages of the list. */
async function allStudies() {
  const found = [];
  let after = null;
  do {
    const query = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    const page = await get(`/v1/studies?limit=${PAGE}${query}`);
    found.push(...page.studies);
    after = page.next ?? null;
  } while (after !== null);
  return found;
}

function emptyState() {
  return make("div", { class: "empty-state", hidden: true },
    make("h2", { text: "No studies yet" }),
    make("p", { text: "A study keeps a tuner and all its rounds. Make one on the machine of this service:" }),
    make("pre", { tabindex: "0", role: "group", "aria-label": "Example command" }, make("code", { text: "dikin study create shop --param price=1:14:4 --maximize" })),
    make("p", { text: "The price lies between 1 and 14 and starts at 4. Larger values are better. The study then appears here automatically." }));
}

/** The status of one study. */
class Card {
  constructor(name) {
    const link = make("a", { href: `#/study/${encodeURIComponent(name)}`, text: name });
    this.stateIcon = icon("fresh");
    this.stateWord = make("span");
    this.state = make("p", { class: "state" }, this.stateIcon, this.stateWord);
    this.problem = make("p", { class: "card-problem", hidden: true });
    this.mean = make("p", { class: "card-mean" });
    this.meanNote = make("p", { class: "card-note" });
    this.gain = make("p", { class: "card-note", hidden: true });
    this.bestLabel = make("p", { class: "card-label" });
    this.best = make("dl", { class: "card-best" });
    this.facts = { rounds: fact("Rounds"), open: fact("Open trials"), told: fact("Last answer") };
    this.warned = make("p", { class: "card-warned", hidden: true }, icon("warning"), make("span"));
    this.rest = make("div", { class: "card-rest" }, this.mean, this.meanNote, this.gain, this.bestLabel, this.best,
      make("dl", { class: "card-facts" }, ...Object.values(this.facts).map((f) => f.element)), this.warned);
    this.element = make("li", { class: "card" },
      make("div", { class: "card-head" }, make("h2", {}, link), this.state), this.problem, this.rest);
  }

  update(study) {
    this.study = study;
    this.received = Date.now();
    this.problem.hidden = !study.problem;
    this.rest.hidden = Boolean(study.problem);
    setText(this.problem, study.problem ?? "");
    if (!study.problem) this.fill(study);
    this.tick();
  }

  fill(study) {
    const rounds = Math.min(study.rounds, study.recent_rounds || 100);
    setText(this.mean, steady(study.recent_mean, 4));
    setText(this.meanNote, isNumber(study.recent_mean) ? `mean of the last ${count(rounds)}, ${sense(study)}` : sense(study));
    this.gain.hidden = !study.uplift;
    if (study.uplift) {
      const { value, sure } = upliftText(study.uplift);
      setText(this.gain, `gain over the control ${value} (${sure})`);
    }
    setText(this.facts.rounds.value, count(study.rounds));
    this.fillBest(study);
    const warnings = study.warnings?.length ?? 0;
    this.warned.hidden = !warnings;
    setText(this.warned.lastChild, plural(warnings, "warning"));
  }

  fillBest(study) {
    const expected = intervalText(study.best_value);
    const worth = expected ? `, expected value ${expected.value} (${expected.sure})` : study.contexts ? " in the mean of contexts" : "";
    setText(this.bestLabel, study.rounds ? `Best setting${worth}` : "Start");
    const pairs = bestPairs(study);
    const key = JSON.stringify(pairs);
    if (key === this.bestKey) return;
    this.bestKey = key;
    const pair = ([name, text]) => make("div", {}, make("dt", { text: name }), make("dd", { text }));
    const shown = pairs.slice(0, SHOWN_NAMES).map(pair);
    const more = pairs.length - SHOWN_NAMES;
    if (more > 0) shown.push(make("div", {}, make("dt", { text: "and" }), make("dd", { text: `${more} more` })));
    this.best.replaceChildren(...shown);
  }

  /** Texts that change between two answers of the server. */
  tick() {
    const { study } = this;
    const later = (Date.now() - this.received) / 1000;
    const state = stateOf(study, later);
    this.kind = state.kind;
    setAttribute(this.state, "class", `state state-${state.kind}`);
    setIcon(this.stateIcon, state.kind);
    setText(this.stateWord, state.word);
    if (study.problem) return;
    const told = study.last_told_seconds;
    setText(this.facts.told.value, isNumber(told) ? ago(told + later) : "never");
    const { count: waiting, oldest_seconds: oldest } = study.open ?? {};
    const since = waiting && isNumber(oldest) ? `, oldest ${duration(oldest + later)}` : "";
    setText(this.facts.open.value, `${waiting ? count(waiting) : "none"}${since}`);
  }
}

function fact(label) {
  const value = make("dd");
  return { value, element: make("div", {}, make("dt", { text: label }), value) };
}
