// A process with a harness over a file, told what to do by lines of JSON: `{ id, op, args }`, answered by `{ id, result }` or
// `{ id, error }`. It prints `{ "id": 0 }` once it accepts commands, and `{ told }` for each end that a listener gets. At its point number
// DIEAT, counted over all calls of the store and all nodes, it kills itself with SIGKILL; 0: never.
// node server.mjs FILE LIFE DIEAT
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { loadHarness, loadStore } from "./built.mjs";
import { namedStore } from "./named-store.mjs";
import { createStoryGraph } from "./story-graph.mjs";

const leaseTtlMs = 1500;

const [file, life, dieAt] = process.argv.slice(2);
/** Written at once, so that it outlives the process: what was said was said. */
const say = (message) => writeSync(1, `${JSON.stringify(message)}\n`);

let points = 0;
const at = () => {
  points += 1;
  if (points === Number(dieAt)) process.kill(process.pid, "SIGKILL");
};

const [{ openSqliteStore }, parts] = await Promise.all([loadStore(), loadHarness()]);
at();
const store = namedStore(await openSqliteStore({ file, limits: { leasePollMs: 20 } }), at);
at();
let ids = 0;
const harness = parts.createChatHarness({
  graph: createStoryGraph(parts, at),
  store,
  session: { leaseTtlMs },
  createId: () => `i${life}-${++ids}`,
  registerSignal: at,
  onTurn: at,
});
const quiet = async () => {
  for (let rounds = 0; rounds < 5; rounds++) await new Promise((resolve) => setImmediate(resolve));
};

const lines = createInterface({ input: process.stdin });
const operations = {
  send: (sessionId, content) => harness.send(sessionId, { role: "user", content }),
  signal: (signal) => harness.signal(signal),
  pending: (sessionId) => harness.pending(sessionId),
  recover: () => harness.recover(),
  listen: async (sessionId) => {
    harness.subscribe(sessionId, (turn, delivery) => {
      at();
      say({ told: { turn, delivery } });
      at();
    });
    await quiet();
  },
  close: async () => {
    await quiet();
    await harness.close();
    await store.close();
    lines.close();
  },
};

say({ id: 0 });
for await (const line of lines) {
  const { id, op, args } = JSON.parse(line);
  operations[op](...args).then(
    (result) => say({ id, result: result ?? null }),
    (error) => say({ id, error: `${error.code}: ${error.stack}` }),
  );
}
