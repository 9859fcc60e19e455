// Asks, answers, claims and reports the same approvals as its fellows, until it dies at a write that its driver has chosen:
// node life.mjs PLACE ARMED NAME FROM. Each line of its output is what its store has acknowledged.
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openApprovals } from "./stores.mjs";

process.stdin.resume().once("end", () => process.exit(0));
const [place, armed] = process.argv.slice(2, 4).map((text) => JSON.parse(text));
const [, , , , name, from] = process.argv;
const { store } = await openApprovals(place);
let left = armed.after;

/** Dies here, if this is the step: standard output is written at once, so that what was acknowledged is known. */
const step = (isBefore) => {
  if (armed.isBefore === isBefore && --left === 0) process.kill(process.pid, "SIGKILL");
};
const say = (value) => writeSync(1, `${JSON.stringify(value)}\n`);
/** Does one write; a refusal is a result. */
const write = async (what, work) => {
  step(true);
  const done = work().then(
    (result) => ({ result }),
    ({ code, reason }) => ({ code: reason ?? code }),
  );
  // In the middle of it: the statement is under way, or, where the store needs no turn of the loop, not acknowledged yet.
  const middle = nextTurn().then(() => step("middle"));
  const [answer] = await Promise.all([done, middle]);
  say({ ...what, name, ...(answer.code === undefined ? {} : { code: answer.code }) });
  step(false);
  return answer.result;
};

say({ op: "ready", name });
for (let number = Number(from); ; number++) {
  const asked = await write({ op: "ask", number }, async () => {
    const { record } = await store.ask({
      origin: { agent: "crash", session: `s${number}`, callId: `c${number}` },
      subject: { tool: "bash", input: { command: `effect ${number}` } },
      risk: { level: "unknown", reasons: [] },
      rule: { id: "all", reason: "asks" },
    });
    return record;
  });
  if (asked === undefined) continue;
  const { id, digest } = asked;
  const event = (value) => () => store.apply(id, value);
  await write({ op: "answer", number, id }, event({ type: "answer", decision: "approve", by: name, digest }));
  const claimant = `${name}-${process.pid}`;
  const taken = await write({ op: "take", number, id, claimant }, event({ type: "take", claimant, digest }));
  if (taken === undefined) continue;
  step(true);
  appendFileSync(join(place.directory, "effects"), `${id} ${claimant}\n`);
  step(false);
  await write({ op: "report", number, id, claimant }, event({ type: "report", claimant, effect: "done" }));
}
