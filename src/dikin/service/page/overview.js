// The overview: every study as a card.

import { poll } from "./api.js";
import { ago, count, duration, icon, intervalText, isNumber, make, pairs, plural, sense, setText, showState, stateOf, steady, upliftText } from "./dom.js";

const LIST_EVERY_MS = 5000;
const SHOWN_NAMES = 6;

/** Show all studies in `main`; returns what the page needs to remove it. */
export function openOverview(main, page) {
  const summary = make("p", { class: "summary" });
  const trouble = make("p", { class: "trouble", role: "alert", hidden: true });
  const list = make("ul", { class: "cards" });
  const empty = emptyState();
  main.replaceChildren(make("div", { class: "overview-head" }, make("h1", { text: "Studies", tabindex: "-1" }), summary), trouble, empty, list);
  document.title = "Studies · dikin";
  const cards = new Map();
  let found = [];

  function update(content) {
    // All pages are read before they are shown.
    found.push(...content.studies);
    if (content.next !== null) return polling.nudge(true);
    show(found);
    found = [];
  }

  /** Change the cards in place, so that focus and scroll stay where they are. */
  function show(studies) {
    trouble.hidden = true;
    empty.hidden = studies.length > 0;
    const names = new Set(studies.map((study) => study.name));
    for (const [name, card] of cards) {
      if (names.has(name)) continue;
      card.element.remove();
      cards.delete(name);
    }
    studies.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })).forEach((study, i) => {
      if (!cards.has(study.name)) cards.set(study.name, new Card(study.name));
      const card = cards.get(study.name);
      card.update(study);
      if (list.children[i] !== card.element) list.insertBefore(card.element, list.children[i] ?? null);
    });
    const running = [...cards.values()].filter((card) => card.kind === "playing").length;
    setText(summary, studies.length ? `${plural(studies.length, "study", "studies")}, ${count(running)} running` : "");
  }

  const path = () => `/v1/studies?after=${encodeURIComponent(found.at(-1)?.name ?? "")}`;
  const polling = poll(path, {
    update,
    state: page.connection,
    problem(problem) {
      found = [];
      if (page.refused(problem)) return;
      setText(trouble, problem.message);
      trouble.hidden = false;
    },
  }, LIST_EVERY_MS);
  return { close: polling.close, nudge: () => polling.nudge(), tick: () => cards.forEach((card) => card.tick()) };
}

const emptyState = () => make("div", { class: "empty-state", hidden: true },
  make("h2", { text: "No studies yet" }),
  make("p", { text: "A study keeps a tuner and all its rounds. Make one on the machine of this service:" }),
  make("pre", { tabindex: "0", role: "group", "aria-label": "Example command" }, make("code", { text: "dikin study create shop --param price=1:14:4 --maximize" })),
  make("p", { text: "The price lies between 1 and 14 and starts at 4. Larger values are better. The study then appears here automatically." }));

const fact = (label, node) => make("div", {}, make("dt", { text: label }), node);
const paragraph = (kind, text) => (text ? make("p", { class: kind, text }) : null);

/** The status of one study. */
class Card {
  constructor(name) {
    this.state = make("p");
    this.rest = make("div", { class: "card-rest" });
    [this.open, this.told] = [make("dd"), make("dd")];
    const link = make("a", { href: `#/study/${encodeURIComponent(name)}`, text: name });
    this.element = make("li", { class: "card" }, make("div", { class: "card-head" }, make("h2", {}, link), this.state), this.rest);
  }

  update(study) {
    [this.study, this.received] = [study, Date.now()];
    this.rest.replaceChildren(...(study.problem ? [paragraph("card-problem", study.problem)] : this.content(study)).filter(Boolean));
    this.tick();
  }

  content(study) {
    const mean = isNumber(study.recent_mean) ? `mean of the last ${count(Math.min(study.rounds, study.recent_rounds || 100))}, ` : "";
    const gain = study.uplift && upliftText(study.uplift);
    const expected = intervalText(study.best_value);
    const worth = expected ? `, expected value ${expected.value} (${expected.sure})` : study.contexts ? " in the mean of contexts" : "";
    const all = pairs(study, study.center);
    const shown = all.slice(0, SHOWN_NAMES).concat(all.length > SHOWN_NAMES ? [["and", `${all.length - SHOWN_NAMES} more`]] : []);
    const warnings = study.warnings.length;
    return [
      paragraph("card-mean", steady(study.recent_mean, 4)),
      paragraph("card-note", mean + sense(study)),
      gain && paragraph("card-note", `gain over the control ${gain.value} (${gain.sure})`),
      paragraph("card-label", study.rounds ? `Best setting${worth}` : "Start"),
      make("dl", { class: "card-best" }, ...shown.map(([name, text]) => fact(name, make("dd", { text })))),
      make("dl", { class: "card-facts" }, fact("Rounds", make("dd", { text: count(study.rounds) })), fact("Open trials", this.open), fact("Last answer", this.told)),
      warnings ? make("p", { class: "card-warned" }, icon("warning"), make("span", { text: plural(warnings, "warning") })) : null,
    ];
  }

  /** Texts that change between two answers of the server. */
  tick() {
    const { study } = this;
    const later = (Date.now() - this.received) / 1000;
    const state = stateOf(study, later);
    this.kind = state.kind;
    showState(this.state, "state", state);
    if (study.problem) return;
    setText(this.told, isNumber(study.last_told_seconds) ? ago(study.last_told_seconds + later) : "never");
    const { count: waiting, oldest_seconds: oldest } = study.open;
    setText(this.open, waiting ? `${count(waiting)}${isNumber(oldest) ? `, oldest ${duration(oldest + later)}` : ""}` : "none");
  }
}
