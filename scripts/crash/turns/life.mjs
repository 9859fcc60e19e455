// A process that begins a turn, or goes on with the one that was left, until it has ended or the process kills itself at a step.
// node life.mjs thread|chat PLACE ARMED: JSON of `{ engine, directory, url?, schema?, isLong }`, and of what `deathAt` takes
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createChatHarness } from "../../../packages/chat-harness/dist/index.js";
import { createThreadServer } from "../../../packages/thread-server/dist/index.js";
import { createPeer } from "../../../packages/wire/dist/rpc.js";
import { createMemoryPair } from "../../../packages/wire/dist/testing.js";
import { deathAt, watched } from "../dying.mjs";
import { openStores } from "../stores.mjs";
import { chatSession, stateOf } from "./state.mjs";
import { chatOptions, threadOptions, turnSteps } from "./turn.mjs";

const [kind, place, armed] = [process.argv[2], ...process.argv.slice(3).map((text) => JSON.parse(text))];
const ledger = join(place.directory, "ledger");
const stores = await openStores(place);
const step = deathAt(armed);
const dying = (part) => watched(part, (label, isBefore) => step("store", label, isBefore));
const turn = { ledger, isLong: place.isLong, atSummary: (isBefore) => step("summary", "summary", isBefore) };

const lives = {
  async thread() {
    const server = createThreadServer({
      ...threadOptions(turn),
      store: dying(stores.threads),
      limits: { takeOverAfterMs: 200, maxTurnAttempts: 1000 },
    });
    const pair = createMemoryPair();
    server.connect(pair.server);
    const ending = new AbortController();
    const peer = createPeer(pair.client, {
      notification: (method) => {
        if (method === "turn.completed" || method === "turn.error") ending.abort();
      },
    });
    /** Asks until it is answered: another server may hold the thread, or have held it when it died. */
    const call = async (method, params) => {
      for (;;) {
        try {
          return await peer.request(method, params);
        } catch (error) {
          if (ending.signal.aborted) return undefined;
          if (error.rpcCode !== -32002) throw error;
          await sleep(100);
        }
      }
    };
    const { threadId } = (await call("thread.create", { clientRequestId: "the-thread" })).thread;
    await call("thread.subscribe", { threadId, afterSeq: 0 });
    const input = [{ type: "text", text: "go" }];
    await call("turn.start", { threadId, input, clientRequestId: "the-turn" });
    if (!ending.signal.aborted) await once(ending.signal, "abort");
    await server.close();
  },
  async chat() {
    const harness = createChatHarness({
      ...chatOptions(turn),
      store: dying(stores.graph),
      session: { leaseTtlMs: 700, leaseWaitMs: 20_000 },
      onError: (error, { message }) => appendFileSync(`${ledger}.errors`, `${message}: ${error.message}\n`),
    });
    for (;;) {
      await harness.recover({ sessionId: chatSession });
      const { messages, runs } = await stateOf.chat(stores);
      if (messages.filter(({ role }) => role === "assistant").length === turnSteps) break;
      if (runs.length > 0 || messages.length > 0) await sleep(100);
      else await harness.send(chatSession, { role: "user", content: "go" });
    }
    await harness.close();
  },
};

// What the store has before this life: none of it is paid again.
const { recorded, summaries } = await stateOf[kind](stores);
appendFileSync(ledger, `life ${[recorded, ...summaries].join(" ")}\n`);
await lives[kind]();
await stores.close();
process.exit(0);
