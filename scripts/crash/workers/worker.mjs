// A worker of conversations and threads, for crash.mjs: it takes `{ id, op, args }` as lines of JSON and answers `{ id, result }` or
// `{ id, code }`. It kills itself at a step of its stores that its driver has chosen.
// node worker.mjs PLACE ARMED: JSON of what `openStores` and `deathAt` take
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createChatHarness, messagesField } from "../../../packages/chat-harness/dist/index.js";
import { defineGraph, defineState, END } from "../../../packages/graph/dist/index.js";
import { createThreadServer } from "../../../packages/thread-server/dist/index.js";
import { createPeer } from "../../../packages/wire/dist/rpc.js";
import { createMemoryPair } from "../../../packages/wire/dist/testing.js";
import { deathAt, watched } from "../dying.mjs";
import { openStores } from "../stores.mjs";
import { threadOptions } from "./turn.mjs";

const [place, armed] = process.argv.slice(2).map((text) => JSON.parse(text));
const doing = new AsyncLocalStorage();
const effects = join(place.directory, "effects.txt");
// The driver reads standard error.
const dying = deathAt(armed, (step) => writeSync(2, `died ${step}\n`));
/** Renewals of leases and other work of no operation are steps too. */
const step = (label, isBefore) => dying(doing.getStore() ?? "background", label, isBefore);

const stores = await openStores(place);
const said = ({ messages }) => messages.findLast(({ role }) => role === "user").content;
const says = (content) => ({ messages: [{ role: "assistant", content }] });
const graph = defineGraph(defineState({ messages: messagesField() }))
  .node("hear", (state) => says(`heard ${said(state)}`), { idempotent: true })
  .node("ask", (state, { suspend }) => suspend({ signal_id: `go ${said(state)}` }), { idempotent: true })
  .node(
    "act",
    async (state, { effect }) => {
      await effect("line", () => {
        appendFileSync(effects, `${said(state)}\n`);
        return true;
      });
      return says(`did ${said(state)}`);
    },
    { idempotent: true },
  )
  .conditionalEdge("hear", (state) => (said(state).startsWith("ask") ? "ask" : "act"))
  .edge("ask", "act")
  .edge("act", END)
  .entry("hear");
const harness = createChatHarness({
  graph,
  store: watched(stores.graph, step),
  interruptedTurns: "retry",
  session: { leaseTtlMs: 700 * place.patience, leaseWaitMs: 15_000 * place.patience },
  onError: (error, { message }) =>
    writeSync(2, `${message}: ${error.code ?? error.message}: ${error.message}\n`),
});

const server = createThreadServer({
  ...threadOptions(join(place.directory, "turns.txt"), (isBefore) => step("summary", isBefore)),
  store: watched(stores.threads, step, "threads."),
  onError: (error) => writeSync(2, `thread: ${error.code ?? error.message}: ${error.message}\n`),
  limits: { takeOverAfterMs: 500 * place.patience, maxTurnAttempts: 1000 },
});
const pair = createMemoryPair();
server.connect(pair.server);
const peer = createPeer(pair.client);

const outcomeOf = (turn) => ({ outcome: turn.outcome, category: turn.error_category });
const operations = {
  turn: async (session, text) => outcomeOf(await harness.send(session, { role: "user", content: text })),
  resume: async (signalId) => {
    const { outcome, turn } = await harness.signal({ signalId });
    // A turn whose end could not be stored has failed, and may be signalled again.
    return { outcome: outcome === "resumed" && turn.outcome === "errored" ? "failed" : outcome };
  },
  recover: (sessionId) => harness.recover({ sessionId }),
  thread: async () => (await peer.request("thread.create", {})).thread.threadId,
  append: (threadId, clientRequestId) => {
    const input = [{ type: "text", text: clientRequestId }];
    return peer.request("turn.start", { threadId, input, clientRequestId });
  },
};
operations.suspend = operations.turn;

const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer({ id: 0 });
for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, args } = JSON.parse(line);
  doing.run(op, () =>
    operations[op](...args).then(
      (result) => answer({ id, result: result ?? null }),
      (error) => answer({ id, code: error.code ?? String(error) }),
    ),
  );
}
await harness.close({ timeoutMs: 2000 }).catch(() => {});
await server.close();
await stores.close();
