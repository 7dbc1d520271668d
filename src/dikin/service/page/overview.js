// The overview: every study as a row of a table.

import { poll } from "./api.js";
import { count, duration, intervalText, isNumber, make, pairs, plural, sense, setText, showState, stateOf, steady, table, upliftText } from "./dom.js";

const LIST_EVERY_MS = 5000;
const SHOWN_NAMES = 6;

/** Show all studies in `main`; returns what the page needs to remove it. */
export function openOverview(main, page) {
  const summary = make("p", { class: "summary" });
  const trouble = make("p", { class: "trouble", role: "alert", hidden: true });
  const studies = table("Studies", ["Study", "State", "Recent mean", "Best setting", "Rounds", "Open trials"]);
  const empty = emptyState();
  main.replaceChildren(make("div", { class: "overview-head" }, make("h1", { text: "Studies", tabindex: "-1" }), summary), trouble, empty, studies.element);
  document.title = "Studies · dikin";
  studies.element.hidden = true;
  let found = [];

  function update(content) {
    // All pages are read before they are shown.
    found.push(...content.studies);
    if (content.next !== null) return polling.nudge(true);
    show(found);
    found = [];
  }

  function show(all) {
    trouble.hidden = true;
    empty.hidden = all.length > 0;
    studies.element.hidden = !empty.hidden;
    const focused = document.activeElement?.getAttribute("href");
    studies.fill(all.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })).map(row));
    [...studies.element.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    const running = all.filter((study) => stateOf(study).kind === "playing").length;
    setText(summary, all.length ? `${plural(all.length, "study", "studies")}, ${count(running)} running` : "");
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
  return polling;
}

const emptyState = () => make("div", { class: "empty-state", hidden: true },
  make("h2", { text: "No studies yet" }),
  make("p", { text: "This command makes one, of a price between 1 and 14 that starts at 4:" }),
  make("pre", { tabindex: "0", role: "group", "aria-label": "Example command" }, make("code", { text: "dikin study create shop --param price=1:14:4 --maximize" })));

/** The cells of one study. */
function row(study) {
  const name = make("th", { scope: "row" }, make("a", { href: `#/study/${encodeURIComponent(study.name)}`, text: study.name }));
  const state = make("p");
  showState(state, "state", stateOf(study));
  const cell = (text, ...notes) => make("td", {}, text, ...notes.filter(Boolean).map((note) => make("p", { class: "number-note", text: note })));
  if (study.problem) return [name, cell(state, study.problem), "", "", "", ""];
  const expected = intervalText(study.best_value);
  const gain = study.uplift && upliftText(study.uplift);
  const settings = pairs(study, study.center).map((pair) => pair.join(" "));
  const more = settings.length > SHOWN_NAMES ? `, and ${settings.length - SHOWN_NAMES} more` : "";
  const { count: waiting, oldest_seconds: oldest } = study.open;
  return [
    name,
    cell(state, study.warnings.length && plural(study.warnings.length, "warning")),
    cell(steady(study.recent_mean, 4), sense(study), gain && `gain over the control ${gain.value} (${gain.sure})`),
    cell(settings.slice(0, SHOWN_NAMES).join(", ") + more, expected && `expected value ${expected.value} (${expected.sure})`),
    count(study.rounds),
    cell(count(waiting), waiting && isNumber(oldest) && `oldest ${duration(oldest)}`),
  ];
}
