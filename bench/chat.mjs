// What a turn of a conversation costs: behind a long history, beside LangGraph, and on SQLite.
// Usage: node bench/chat.mjs [--rounds 5] [--history 10000] [--turns 500]
import { createMemoryStore } from "@harnesskit/graph";
import { ourConversation, theirConversation } from "./chat/contenders.mjs";
import { fill, logOfTurn } from "./chat/sqlite-turns.mjs";
import { inRounds, latency, micros, optionsFrom, printTable, times } from "./lib/rounds.mjs";

const { rounds, history, turns } = optionsFrom({ rounds: 5, history: 10_000, turns: 500 });

// A turn in sessions of its own, so that an empty one stays nearly empty, and behind a long history.
const turnCost = async ({ length }) => {
  const store = createMemoryStore();
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const { turn, close } = ourConversation(store);
  for (const name of names) {
    if (length > 0) await fill(store, name, length);
    // The first turn validates what the store gives, once.
    await turn(name);
  }
  let next = 0;
  const cost = await latency(() => turn(names[next++ % names.length]), { count: 1000 });
  await close();
  return cost;
};
const short = { name: "empty", length: 0 };
const long = { name: `${history} messages`, length: history };
const growth = await inRounds([short, long], rounds, turnCost);
printTable(
  ["a turn in memory behind", "takes", "of the empty one's"],
  [short, long].map(({ name }) => [name, micros(growth, name), times(growth, name, short.name)]),
  `median of ${rounds} rounds`,
);

// The last turns of a conversation of many.
const lateTurn = async ({ open, after }) => {
  const { turn, close } = open();
  for (let index = 0; index < after; index++) await turn();
  const cost = await latency(turn, { count: 10 });
  await close();
  return cost;
};
console.log();
for (const after of [10, turns]) {
  const contenders = [
    { name: "harnesskit", open: ourConversation, after },
    { name: "LangGraph, MemorySaver", open: theirConversation, after },
  ];
  const late = await inRounds(contenders, rounds, lateTurn);
  printTable(
    [`a turn after ${after} turns`, "takes", "of harnesskit's"],
    contenders.map(({ name }) => [name, micros(late, name), times(late, name, "harnesskit")]),
  );
  console.log();
}

const rows = [];
for (const length of [10, history]) {
  const bytes = await logOfTurn(ourConversation, { history: length, turns: 20 });
  rows.push([`${length} messages`, `${(bytes / 1024).toFixed(1)} KiB`]);
}
printTable(["a turn on SQLite behind", "write-ahead log"], rows);
