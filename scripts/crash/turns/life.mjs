// A server that begins a turn, or goes on with the one that was left, until it has ended or the process kills itself at a write.
// node life.mjs PLACE ARMED: JSON of `{ engine, directory, url?, schema? }`, and of `{ after, isBefore }` or null
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createThreadServer } from "../../../packages/thread-server/dist/index.js";
import { createMemoryPair } from "../../../packages/wire/dist/testing.js";
import { openTurnThreads, turnEvents } from "./stores.mjs";
import { turnOptions } from "./turn.mjs";

const [place, armed] = process.argv.slice(2).map((text) => JSON.parse(text));
const ledger = join(place.directory, "ledger");
const { threads, close } = await openTurnThreads(place);

let writes = 0;
const die = () => process.kill(process.pid, "SIGKILL");
const dying = new Proxy(threads, {
  get(target, name) {
    const value = Reflect.get(target, name, target);
    if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
    return async (...args) => {
      const isNow = armed !== null && ++writes === armed.after;
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
    waiting.get(id)?.(error ? Promise.reject(new TypeError(error.message)) : result);
  },
  error() {},
  close() {},
});
let lastId = 0;
const call = (method, params) =>
  new Promise((resolve) => {
    const id = ++lastId;
    waiting.set(id, resolve);
    void client.send({ jsonrpc: "2.0", id, method, params });
  });

// What the log has before this life: none of it is paid again.
const recorded = (await turnEvents(threads)).filter(({ type }) => type === "turn.step").length;
appendFileSync(ledger, `life ${recorded}\n`);
const limits = { takeOverAfterMs: 200, maxTurnAttempts: 1000 };
const server = createThreadServer({ ...turnOptions(ledger), store: dying, limits });
server.connect(side);
const { thread } = await call("thread.create", { clientRequestId: "the-thread" });
const { threadId } = thread;
await call("thread.subscribe", { threadId, afterSeq: 0 });
const input = [{ type: "text", text: "go" }];
await call("turn.start", { threadId, input, clientRequestId: "the-turn" }).catch(() => {});
await ended;
await server.close();
await close();
process.exit(0);
