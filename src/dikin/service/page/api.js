// Requests to the service: one at a time (`get`, `post`), and again and again (`poll`).

const TOKEN = "dikin-token";
const EVERY_MS = 1000;
const LONGEST_WAIT_S = 30;

/** Why a request failed. Status 0: no answer at all. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

// If the browser forbids storage, the token lives only as long as the page.
let inMemory = null;

export function token() {
  try {
    return localStorage.getItem(TOKEN) ?? inMemory;
  } catch {
    return inMemory;
  }
}

/** Keep a token, or none. */
export function keepToken(text) {
  inMemory = text;
  try {
    localStorage.removeItem(TOKEN);
    if (text) localStorage.setItem(TOKEN, text);
  } catch {
    // Nothing to do: it stays in memory.
  }
}

export const studyPath = (name, rest = "") => `/v1/studies/${encodeURIComponent(name)}${rest}`;
export const get = async (path) => (await call(path)).content;
export const post = async (path) => (await call(path, { method: "POST" })).content;

async function call(path, options = {}, tag = null) {
  const headers = { Accept: "application/json" };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (tag) headers["If-None-Match"] = tag;
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", headers, signal: AbortSignal.timeout(15_000), ...options });
  } catch {
    throw new Problem(0, "The server does not answer.");
  }
  if (answer.status === 304) return { content: null, tag };
  // A proxy may answer with a page of its own.
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, String(content?.detail || `The server answered with status ${answer.status}.`));
  if (content === null) throw new Problem(0, "The server's answer is not JSON.");
  return { content, tag: answer.headers.get("ETag") };
}

/**
 * Ask again and again, while the page is visible, and less often while there is no answer.
 *
 * `path()` gives the address. `told.update(content)` gets what has changed, `told.problem(problem)` why there
 * is nothing, and `told.state({ kind, failures })` whether the server answers.
 */
export function poll(path, told, every = EVERY_MS) {
  let [tag, failures, closed, timer] = [null, 0, false, null];
  const wait = (ms) => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(ask, ms);
  };
  async function ask() {
    if (document.hidden) return wait(EVERY_MS);
    try {
      const answer = await call(path(), {}, tag);
      if (closed) return;
      [tag, failures] = [answer.tag, 0];
      told.state({ kind: "live", failures });
      wait(every);
      if (answer.content) told.update(answer.content);
    } catch (problem) {
      if (closed) return;
      if (!(problem instanceof Problem)) throw problem;
      // A server that answers with a problem is available, but asking soon would not help.
      const seconds = problem.status && problem.status < 500 ? LONGEST_WAIT_S : Math.min(LONGEST_WAIT_S, 2 ** failures);
      failures = problem.status && problem.status < 500 ? 1 : failures + 1;
      told.state({ kind: "waiting", failures });
      wait(seconds * 1000);
      if (problem.status) told.problem(problem);
    }
  }
  told.state({ kind: "connecting", failures });
  ask();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
    /** Ask now; `anew` for everything, as if nothing were known. */
    nudge(anew = false) {
      if (anew) tag = null;
      wait(0);
    },
  };
}
