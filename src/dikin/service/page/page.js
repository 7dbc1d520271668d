// The page: which view is open, who looks at it, and whether the server answers.

import { get, keepToken, token } from "./api.js";
import { make, say, setText, showState } from "./dom.js";
import { openOverview } from "./overview.js";
import { StudyView } from "./study.js";

const RIGHTS = ["read", "play", "admin"];

const main = document.getElementById("main");
let view = null;
let visitor = null;
let link = { kind: "connecting", failures: 0 };

// --- the bar at the top ---------------------------------------------------------------------------

const linkBox = make("p", { hidden: true });
const who = make("p", { class: "who", hidden: true });
const signOut = make("button", { type: "button", class: "button quiet", text: "Sign out", hidden: true, click: leave });
document.getElementById("side").append(linkBox, who, signOut);

function showVisitor() {
  who.hidden = !visitor?.name;
  if (visitor?.name) setText(who, `${visitor.name} (${visitor.right})`);
  signOut.hidden = !visitor || !token();
}

function showLink() {
  const { kind, failures } = link;
  linkBox.hidden = false;
  showState(linkBox, "link", kind === "live" ? { kind, word: "live" }
    : { kind: failures > 2 ? "broken" : "waiting", word: kind === "waiting" ? "reconnecting" : "connecting" });
  // One failure is often only a request that was lost; the next one follows within a second.
  document.body.classList.toggle("not-live", kind !== "live" && failures > 1);
}

/** Set a new state of the connection; announce only that it was lost or is back. */
function connection(next) {
  if (link.kind === "live" && next.kind === "waiting") say("Connection lost.");
  if (next.kind === "live" && link.failures > 0) say("Reconnected.");
  link = next;
  showLink();
}

// --- the token ------------------------------------------------------------------------------------

/** Ask for a token if this problem is the lack of one. */
function refused(problem) {
  if (problem.status !== 401) return false;
  askToken(token() ? problem.message : "");
  return true;
}

function askToken(trouble) {
  closeView();
  say("");
  linkBox.hidden = true;
  visitor = null;
  showVisitor();
  document.title = "Token needed · dikin";
  const input = make("input", { type: "password", id: "token", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "token-help" });
  const enter = (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    keepToken(input.value.trim());
    start();
  };
  main.replaceChildren(make("form", { class: "token-form", submit: enter },
    make("h1", { text: "This service needs a token", tabindex: "-1" }),
    make("p", { id: "token-help" }, "Paste one below, which this browser keeps until you sign out. This command creates one that may only read: ", make("code", { text: "dikin token create --right read wall" })),
    trouble ? make("p", { class: "trouble", role: "alert", text: trouble }) : null,
    make("label", { for: "token", text: "Token" }), input,
    make("button", { type: "submit", class: "button strong", text: "Show the studies" })));
  input.focus();
}

function leave() {
  keepToken(null);
  start();
}

// --- views ----------------------------------------------------------------------------------------

const page = { connection, refused, may: (right) => RIGHTS.indexOf(visitor?.right) >= RIGHTS.indexOf(right) };

function closeView() {
  view?.close();
  view = null;
}

function openView() {
  closeView();
  say("");
  link = { kind: "connecting", failures: 0 };
  const found = /^#\/study\/(.+)$/.exec(location.hash);
  try {
    const name = found && decodeURIComponent(found[1]);
    view = found ? new StudyView(main, name, page) : openOverview(main, page);
  } catch (fault) {
    if (!(fault instanceof URIError)) throw fault;
    view = openNowhere(found[1]);
  }
}

/** Say that an address cannot be decoded, and lead to the list. */
function openNowhere(name) {
  linkBox.hidden = true;
  document.title = "No such study · dikin";
  main.replaceChildren(make("a", { class: "back", href: "#/", text: "All studies" }),
    make("h1", { text: "No such study", tabindex: "-1" }),
    make("p", { class: "trouble", role: "alert", text: `The address ends with ${name}, which is not the encoded name of a study.` }));
  return { close() {} };
}

/** Learn the rights of this visitor; false if a token is asked for now. */
async function learnVisitor() {
  try {
    visitor = await get("/v1/token");
  } catch (problem) {
    // If the server is unavailable, the view shows it; the right is asked for again when it is back.
    if (refused(problem)) return false;
  }
  showVisitor();
  return true;
}

async function start() {
  visitor = null;
  if (await learnVisitor()) openView();
}

// --- start ----------------------------------------------------------------------------------------

function live() {
  addEventListener("hashchange", () => {
    if (!view) return;
    openView();
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  });
  setInterval(() => {
    view?.tick?.();
    if (!visitor && view && link.kind === "live") learnVisitor();
  }, 1000);
  start();
}

// A page that was written as a file has its data in it.
const inlined = document.getElementById("data");
if (inlined) {
  const data = JSON.parse(inlined.textContent);
  document.body.classList.add("file");
  view = new StudyView(main, data.study.name, page, data);
} else live();
