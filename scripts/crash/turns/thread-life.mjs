// A server that begins a turn, or goes on with the one that was left, until it has ended or the process kills itself at a write.
// node thread-life.mjs PLACE ARMED: JSON of `{ engine, directory, url?, schema?, isLong }`, and of `{ after, isBefore, atSummary? }` or null
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createThreadServer } from "../../../packages/thread-server/dist/index.js";
import { createMemoryPair } from "../../../packages/wire/dist/testing.js";
import { openThreads, summariesOf, threadEvents } from "./stores.mjs";
import { threadOptions } from "./turn.mjs";

const [place, armed] = process.argv.slice(2).map((text) => JSON.parse(text));
const ledger = join(place.directory, "ledger");
const { threads, close } = await openThreads(place);

let writes = 0;
const die = () => process.kill(process.pid, "SIGKILL");
const dying = new Proxy(threads, {
  get(target, name) {
    const value = Reflect.get(target, name, target);
    if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
    return async (...args) => {
      const isNow = armed !== null && !armed.atSummary && ++writes === armed.after;
      if (isNow && armed.isBefore) die();
      await threads.append(...args);
      if (isNow) die();
    };
  },
});

const { client, server: side } = createMemoryPair();
const waiting = new Map();
let onEnd;
const ended = new Promise((resolve) => {
  onEnd = resolve;
});
client.start({
  message: ({ id, method, result, error }) => {
    if (method === "turn.completed" || method === "turn.error") onEnd();
    waiting.get(id)?.({ result, error });
  },
  error() {},
  close() {},
});
let lastId = 0;
const request = (method, params) =>
  new Promise((resolve) => {
    const id = ++lastId;
    waiting.set(id, resolve);
    void client.send({ jsonrpc: "2.0", id, method, params });
  });
let isOver = false;
void ended.then(() => {
  isOver = true;
});
/** Asks until it is answered: another server may hold the thread, or have held it when it died. */
const call = async (method, params) => {
  for (;;) {
    const { result, error } = await request(method, params);
    if (result !== undefined || isOver) return result;
    if (error.code !== -32002) throw new TypeError(`${method}: ${error.message}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

// What the log has before this life: none of it is paid again.
const before = await threadEvents(threads);
const recorded = before.filter(({ type }) => type === "turn.step").length;
appendFileSync(ledger, `life ${[recorded, ...summariesOf(before)].join(" ")}\n`);
let summaries = 0;
const at = (_, isBefore) => {
  if (armed?.atSummary && armed.isBefore === isBefore && ++summaries === armed.after) die();
};
const limits = { takeOverAfterMs: 200, maxTurnAttempts: 1000 };
const server = createThreadServer({
  ...threadOptions({ ledger, isLong: place.isLong, at }),
  store: dying,
  limits,
});
server.connect(side);
const { thread } = await call("thread.create", { clientRequestId: "the-thread" });
const { threadId } = thread;
await call("thread.subscribe", { threadId, afterSeq: 0 });
const input = [{ type: "text", text: "go" }];
await call("turn.start", { threadId, input, clientRequestId: "the-turn" });
await ended;
await server.close();
await close();
process.exit(0);
