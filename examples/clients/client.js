// Tunes the price of a shop over HTTP: node client.js [ROUNDS]. Needs Node 20 or later.
// The service is at DIKIN_URL; where it has tokens, DIKIN_TOKEN is one that may play.
const { DIKIN_URL = "http://localhost:8000", DIKIN_TOKEN } = process.env;
const TUNER = { tuner: { price: { low: 1, high: 14, start: 4 } }, maximize: true };
const revenue = ({ price }) => 500 - 4 * (price - 8) ** 2 + 20 * Math.random(); // your system
const covariates = () => ({ minute: new Date().getMinutes() }); // what else explains the revenue
// What may not have arrived is sent again, for a minute: the key keeps an ask from being played
// twice, and the same tell counts once anyway.
async function send(method, path, body, key = crypto.randomUUID(), tries = 60) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  if (DIKIN_TOKEN) headers.Authorization = `Bearer ${DIKIN_TOKEN}`;
  const request = { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(9e3) };
  const answer = await fetch(`${DIKIN_URL}/v1/studies/shop${path}`, request).catch(() => null);
  const content = await answer?.json().catch(() => null); // null: nobody there, or cut off
  if (content && answer.ok) return content;
  if ((content && answer.status !== 503) || tries === 1)
    throw Object.assign(new Error(content?.detail ?? `no answer from ${DIKIN_URL}`), content);
  await new Promise((wake) => setTimeout(wake, 1000 * (answer?.headers.get("Retry-After") ?? 1)));
  return send(method, path, body, key, tries - 1);
}

async function play(count = 100) {
  await send("GET", "").catch((error) => error.code === "unknown_study" && send("PUT", "", TUNER));
  for (let played = 0; played < count; played++) {
    const { id, params } = await send("POST", "/ask", { covariates: covariates() });
    await send("POST", "/tell", { id, value: revenue(params) });
    console.log(`round ${played + 1}: price ${params.price}`);
  }
}
play(process.argv[2]).catch((error) => (console.error(error.message), process.exit(1)));
