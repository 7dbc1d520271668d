// The page: which view is open, who looks at it, and whether the server answers.

import { forgetToken, get, keepToken, token } from "./api.js";
import { icon, make, say, setAttribute, setIcon, setText } from "./dom.js";
import { openOverview } from "./overview.js";
import { openStudy } from "./study.js";

const RIGHTS = ["read", "play", "admin"];
const AWAY_AFTER = 3;

const main = document.getElementById("main");
let view = null;
let visitor = null;
let link = { kind: "connecting", failures: 0 };

// --- the bar at the top -----------------------------------------------------------------------------

const linkIcon = icon("waiting");
const linkText = make("span", { text: "connecting" });
const linkBox = make("p", { class: "link link-waiting", hidden: true }, linkIcon, linkText);
const who = make("p", { class: "who", hidden: true });
const signOut = make("button", { type: "button", class: "button quiet", text: "Sign out", hidden: true, click: leave });

function buildBar() {
  document.getElementById("side").append(linkBox, who, signOut);
  const version = document.querySelector('meta[name="dikin-version"]').content;
  // Without a server that fills it in, the text in braces is still there.
  setText(document.getElementById("version"), version.startsWith("{") ? "dikin" : `dikin ${version}`);
}

function showVisitor() {
  who.hidden = !visitor?.name;
  if (visitor?.name) setText(who, `${visitor.name} (${visitor.right})`);
  signOut.hidden = !visitor || !token();
}

// --- the connection ---------------------------------------------------------------------------------

const AWAY = "server unavailable";

function linkWords({ kind, until, failures }) {
  if (kind === "live") return "live";
  const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  if (failures >= AWAY_AFTER) return kind === "waiting" ? `${AWAY}, next try in ${left} s` : AWAY;
  return kind === "waiting" ? `reconnecting in ${left} s` : "connecting";
}

function showLink() {
  const away = link.kind !== "live" && link.failures >= AWAY_AFTER;
  const name = link.kind === "live" ? "live" : away ? "broken" : "waiting";
  linkBox.hidden = false;
  setAttribute(linkBox, "class", `link link-${name}`);
  setIcon(linkIcon, name);
  setText(linkText, linkWords(link));
  // One failure is often only a stream that ended; it comes back within a second.
  document.body.classList.toggle("not-live", link.kind !== "live" && link.failures > 1);
}

/** Set a new state of the connection; announce only that it was lost or is back. */
function connection(next) {
  if (link.kind === "live" && next.kind === "waiting") say("Connection lost.");
  if (next.kind === "live" && link.failures > 0) say("Reconnected.");
  if (next.failures === AWAY_AFTER && next.kind === "waiting") say("The server is unavailable.");
  link = next;
  showLink();
}

// --- the token --------------------------------------------------------------------------------------

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
  const title = make("h1", { text: "This service needs a token", tabindex: "-1" });
  const input = make("input", { type: "password", id: "token", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "token-help" });
  const remember = make("input", { type: "checkbox", id: "remember" });
  const form = make("form", { class: "token-form", submit: (event) => enter(event, input.value.trim(), remember.checked) },
    title,
    make("p", { id: "token-help" }, "Paste one below. This command creates a read-only token: ", make("code", { text: "dikin token create --right read wall" })),
    trouble ? make("p", { class: "trouble", role: "alert", text: trouble }) : null,
    make("label", { for: "token", text: "Token" }), input,
    make("label", { class: "check", for: "remember" }, remember, make("span", { text: "Remember on this device" })),
    make("button", { type: "submit", class: "button strong", text: "Show the studies" }));
  main.replaceChildren(form);
  input.focus();
}

function enter(event, text, remember) {
  event.preventDefault();
  if (!text) return;
  keepToken(text, remember);
  start();
}

function leave() {
  forgetToken();
  start();
}

// --- views ------------------------------------------------------------------------------------------

const page = { connection, refused, may: (right) => RIGHTS.indexOf(visitor?.right) >= RIGHTS.indexOf(right) };

function closeView() {
  view?.close();
  view = null;
}

function wantedStudy() {
  const found = /^#\/study\/(.+)$/.exec(location.hash);
  try {
    return found ? decodeURIComponent(found[1]) : null;
  } catch {
    return null;
  }
}

function openView() {
  closeView();
  say("");
  link = { kind: "connecting", failures: 0 };
  const name = wantedStudy();
  view = name === null ? openOverview(main, page) : openStudy(main, name, page);
}

async function start() {
  try {
    visitor = await get("/v1/token");
  } catch (problem) {
    if (refused(problem)) return;
    // The view shows that the server is unavailable; the right is asked for again when it is back.
    visitor = null;
  }
  showVisitor();
  openView();
}

/** The server was unavailable at the start: learn the right later. */
async function learnVisitor() {
  if (visitor || !view || link.kind !== "live" || learnVisitor.busy) return;
  learnVisitor.busy = true;
  try {
    visitor = await get("/v1/token");
    showVisitor();
  } catch (problem) {
    refused(problem);
  } finally {
    learnVisitor.busy = false;
  }
}

// --- start ------------------------------------------------------------------------------------------

function onHash() {
  // The skip link also changes the hash; it must not close the view.
  if (location.hash && !location.hash.startsWith("#/")) return;
  if (!view) return;
  openView();
  scrollTo(0, 0);
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function onSkip(event) {
  event.preventDefault();
  main.focus();
}

buildBar();
addEventListener("hashchange", onHash);
addEventListener("online", () => view?.nudge());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) view?.nudge();
});
document.querySelector(".skip").addEventListener("click", onSkip);
setInterval(() => {
  if (link.kind === "waiting" && view) showLink();
  view?.tick();
  learnVisitor();
}, 1000);
start();
