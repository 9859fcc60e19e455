import { must } from "../violation.mjs";
import { textOf, turnSteps } from "./turn.mjs";

/** Compares the ledger with itself: what was recorded was not paid again, and no effect happened twice. */
const checkLedger = (ledger) => {
  const acts = ledger.filter((line) => line.startsWith("act "));
  must(new Set(acts).size === acts.length, `an effect happened twice: ${acts}`);
  let recorded = 0;
  for (const line of ledger) {
    const [what, number] = line.split(" ");
    if (what === "life") recorded = Math.max(recorded, Number(number));
    if (what === "asked")
      must(Number(number) >= recorded, `step ${number} was paid again: ${recorded} were recorded`);
  }
};

/**
 * Compares the summaries of the ledger with itself, and with those that the user was told of: one that was stored was not paid again, another one once more
 * for each death at most, and the model was given none in secret. Returns how many there are.
 */
const checkSummaries = (ledger, told, isLong) => {
  const asked = new Set();
  const stored = new Set();
  for (const line of ledger) {
    const [what, ...names] = line.split(" ");
    if (what === "life") {
      asked.clear();
      for (const name of names.slice(1)) stored.add(name);
    }
    if (what !== "summary") continue;
    const [name] = names;
    must(!stored.has(name), `the summary ${name} was stored, and paid again`);
    must(!asked.has(name), `the summary ${name} was paid twice in one life`);
    asked.add(name);
  }
  const given = ledger.filter((line) => line.startsWith("asked ")).map((line) => line.split(" ")[2]);
  const secret = given.filter((name) => name !== "all" && !told.includes(name));
  must(secret.length === 0, `the model was given a summary that nobody was told of: ${secret}`);
  must(!isLong || told.length > 0, "no summary was made");
  return told.length;
};

/** Compares the log of the turn with what the provider was asked, and with the effects. */
const checkThread = ({ events, summaries: told }, ledger, isLong) => {
  must(
    events.every(({ seq }, index) => seq === index + 1),
    "the numbers of the events have a gap",
  );
  const of = (type) => events.filter((event) => event.type === type);
  must(of("turn.started").length === 1, `${of("turn.started").length} turns began`);
  const ends = [...of("turn.completed"), ...of("turn.error")];
  must(ends.length === 1 && ends[0].data.status === "completed", `the turn ended: ${JSON.stringify(ends)}`);
  const steps = of("turn.step").map(({ data }) => data.step);
  must(JSON.stringify(steps) === JSON.stringify([...Array(turnSteps).keys()]), `the steps are ${steps}`);
  const summaries = checkSummaries(ledger, told, isLong);
  must(new Set(told).size === told.length, `a summary is in the log twice: ${told}`);
  must(
    ends[0].data.turn.usage?.inputTokens === turnSteps + summaries,
    "the usage is not that of each step and summary once",
  );
  const calls = of("item.completed").filter(({ data }) => data.type === "tool_exec");
  must(calls.length === 3 * (turnSteps - 1), `${calls.length} calls ended`);
  return { summaries, unknown: calls.filter(({ data }) => data.item.data.status === "unknown").length };
};

/** Compares the history of the conversation with what the provider was asked, and with the effects. */
const checkChat = ({ messages, runs }, ledger, isLong) => {
  must(runs.length === 0, `${runs.length} runs are left`);
  const roles = messages.map(({ role }) => role).join(" ");
  const step = " assistant tool tool tool".repeat(turnSteps - 1);
  must(roles === `user${step} assistant`, `the history is ${roles}`);
  const said = messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
  const expected = [...Array(turnSteps).keys()].map((number) => textOf(number, isLong));
  must(JSON.stringify(said) === JSON.stringify(expected), `the model has said ${JSON.stringify(said)}`);
  const told = ledger.filter((line) => line.startsWith("told ")).map((line) => line.split(" ")[1]);
  const results = messages.filter(({ role }) => role === "tool");
  const unknown = results.filter(({ content }) => content.includes("tool_interrupted")).length;
  return { summaries: checkSummaries(ledger, told, isLong), unknown };
};

const checks = { thread: checkThread, chat: checkChat };

/** Compares what is stored of a turn that has ended, as `stateOf` returns it, with the lines of its ledger. Returns figures. */
export const checkTurn = (kind, state, ledger, isLong) => {
  checkLedger(ledger);
  return { turns: 1, ...checks[kind](state, ledger, isLong) };
};
