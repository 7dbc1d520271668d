// Requests to the service: one at a time (`call`), and the stream of events (`follow`).

const KEY = "dikin-token";
const SILENCE_MS = 30_000;
const LONGEST_WAIT_S = 30;

/** Why a request failed. Status 0: no answer at all. */
class Problem extends Error {
  constructor(status, detail, code = "") {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

// --- the token ------------------------------------------------------------------------------------

// If the browser forbids storage, the token lives only as long as the page.
let inMemory = null;

export function token() {
  try {
    return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

export function keepToken(text, remember) {
  forgetToken();
  inMemory = text;
  try {
    (remember ? localStorage : sessionStorage).setItem(KEY, text);
  } catch {
    // Nothing to do: it stays in memory.
  }
}

export function forgetToken() {
  inMemory = null;
  try {
    sessionStorage.removeItem(KEY);
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was stored.
  }
}

function headers(more = {}) {
  const known = token();
  return known ? { Authorization: `Bearer ${known}`, ...more } : more;
}

// --- one request ----------------------------------------------------------------------------------

/** The path of a study. */
export const studyPath = (name, rest = "") => `/v1/studies/${encodeURIComponent(name)}${rest}`;

export const get = (path) => call(path, { headers: headers({ Accept: "application/json" }) });

export const post = (path) =>
  call(path, { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: "{}" });

async function call(path, options) {
  const answer = await reach(path, { ...options, signal: AbortSignal.timeout(15_000) });
  if (!answer.ok) throw await problemOf(answer);
  try {
    return await answer.json();
  } catch {
    throw new Problem(0, "The server's answer is not JSON.");
  }
}

async function reach(path, options) {
  try {
    return await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw new Problem(0, "The server does not answer.");
  }
}

async function problemOf(answer) {
  let body = {};
  try {
    body = await answer.json();
  } catch {
    // A proxy may answer with a page of its own; the status is enough then.
  }
  const detail = body?.detail || body?.title || `The server answered with status ${answer.status}.`;
  return new Problem(answer.status, String(detail), body?.code);
}

// --- the stream of events -------------------------------------------------------------------------

/**
 * Follow a stream of events, and connect again whenever it breaks.
 *
 * EventSource cannot send the Authorization header, so this reads the stream itself.
 * `told.update(data)`, `told.problem(problem)` and `told.state({ kind, until, failures })` are called.
 */
export function follow(path, told) {
  const state = { path, told, last: null, failures: 0, closed: false, abort: null, wake: null };
  run(state);
  return {
    close() {
      state.closed = true;
      state.abort?.abort();
      state.wake?.();
    },
    /** Try again now instead of waiting. */
    nudge: () => state.wake?.(),
    /** Forget the rounds received so far: the study was created again. */
    restart() {
      state.last = null;
      state.abort?.abort();
    },
  };
}

async function run(state) {
  while (!state.closed) {
    state.told.state({ kind: "connecting", failures: state.failures });
    const slow = await readOnce(state);
    if (state.closed) return;
    const wait = slow ? LONGEST_WAIT_S : Math.min(LONGEST_WAIT_S, 2 ** state.failures);
    // A server that answers with a problem is available.
    state.failures = slow ? 1 : state.failures + 1;
    state.told.state({ kind: "waiting", until: Date.now() + wait * 1000, failures: state.failures });
    await pause(state, wait);
  }
}

/** Read until the stream ends; true if trying again soon would not help. */
async function readOnce(state) {
  state.abort = new AbortController();
  try {
    const more = { Accept: "text/event-stream" };
    if (state.last !== null) more["Last-Event-ID"] = state.last;
    const answer = await reach(state.path, { headers: headers(more), signal: state.abort.signal });
    if (!answer.ok) throw await problemOf(answer);
    await readEvents(state, answer.body.getReader());
    return false;
  } catch (error) {
    if (state.closed || !(error instanceof Problem) || error.status === 0) return false;
    state.told.problem(error);
    return error.status < 500;
  } finally {
    state.abort.abort();
  }
}

async function readEvents(state, reader) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  for (;;) {
    const watchdog = setTimeout(() => state.abort.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(watchdog));
    if (done || state.closed) return;
    for (const event of parser.take(decoder.decode(value, { stream: true }))) handle(state, event);
    // A heartbeat proves the connection as well as an event does.
    if (state.failures || !parser.seen) {
      state.failures = 0;
      parser.seen = true;
      state.told.state({ kind: "live", failures: 0 });
    }
  }
}

/** Pass on one event. A problem ends the stream, as if the request had been refused. */
function handle(state, event) {
  if (event.id !== null) state.last = event.id;
  if (event.name === "update") state.told.update(JSON.parse(event.data));
  if (event.name !== "problem") return;
  const body = JSON.parse(event.data);
  throw new Problem(body.status || 500, body.detail || body.title || "The stream ended.", body.code);
}

function pause(state, seconds) {
  return new Promise((done) => {
    const timer = setTimeout(done, seconds * 1000);
    state.wake = () => {
      clearTimeout(timer);
      done();
    };
  });
}

/** Cuts the text of an event stream into events. */
class EventParser {
  constructor() {
    this.rest = "";
    this.seen = false;
    this.clear();
  }

  clear() {
    this.event = { name: "message", id: null, data: [] };
  }

  take(text) {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop();
    return lines.map((line) => this.line(line)).filter(Boolean);
  }

  line(line) {
    if (line === "") return this.finish();
    if (line.startsWith(":")) return null;
    const cut = line.indexOf(":");
    const field = cut < 0 ? line : line.slice(0, cut);
    const value = cut < 0 ? "" : line.slice(cut + 1).replace(/^ /, "");
    if (field === "event") this.event.name = value;
    if (field === "id") this.event.id = value;
    if (field === "data") this.event.data.push(value);
    return null;
  }

  finish() {
    const { name, id, data } = this.event;
    this.clear();
    return data.length ? { name, id, data: data.join("\n") } : null;
  }
}
