// A process that begins a turn of a chat, or goes on with the one that was left, until it has ended or the process kills itself at a
// step of its store.
// node chat-life.mjs PLACE ARMED: JSON of `{ engine, directory, url?, schema?, isLong }`, and of `{ after, isBefore, atSummary? }` or null
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createChatHarness } from "../../../packages/chat-harness/dist/index.js";
import { watched } from "../watched.mjs";
import { chatSession, chatState, openChats } from "./stores.mjs";
import { chatOptions, turnSteps } from "./turn.mjs";

const [place, armed] = process.argv.slice(2).map((text) => JSON.parse(text));
const ledger = join(place.directory, "ledger");
const { graph, close } = await openChats(place);

let steps = 0;
const dieAt = (isBefore) => {
  if (armed?.isBefore === isBefore && ++steps === armed.after) process.kill(process.pid, "SIGKILL");
};
const step = (_, isBefore) => {
  if (!armed?.atSummary) dieAt(isBefore);
};
const at = (_, isBefore) => {
  if (armed?.atSummary) dieAt(isBefore);
};

// What the store has before this life: none of it is paid again.
const before = await chatState(graph);
appendFileSync(ledger, `life ${[before.answers, ...before.summaries].join(" ")}\n`);
const harness = createChatHarness({
  ...chatOptions({ ledger, isLong: place.isLong, at }),
  store: watched(graph, step),
  session: { leaseTtlMs: 700, leaseWaitMs: 20_000 },
  onError: (error, { message }) => appendFileSync(`${ledger}.errors`, `${message}: ${error.message}\n`),
});
for (;;) {
  await harness.recover({ sessionId: chatSession });
  const { messages, runs } = await chatState(graph);
  if (messages.filter(({ role }) => role === "assistant").length === turnSteps) break;
  if (runs.length === 0 && messages.length === 0) {
    const turn = await harness.send(chatSession, { role: "user", content: "go" });
    appendFileSync(`${ledger}.errors`, `sent: ${turn.outcome} ${turn.error_message ?? ""}\n`);
  } else await new Promise((resolve) => setTimeout(resolve, 100));
}
await harness.close();
await close();
process.exit(0);
