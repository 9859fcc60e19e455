// What a turn of a conversation costs: behind a long history, beside LangGraph, in many sessions, and on SQLite.
// Usage: node bench/chat.mjs [--rounds 5] [--history 10000] [--turns 500] [--sessions 1000]
import { createMemoryStore } from "@harnesskit/graph";
import { ourConversation, ourLine, theirConversation, theirLine } from "./chat/contenders.mjs";
import { fill, writesPerTurn } from "./chat/sqlite-turns.mjs";
import { inRounds, latency, micros, optionsFrom, printTable, times } from "./lib/rounds.mjs";

const { rounds, history, turns, sessions } = optionsFrom({
  rounds: 5,
  history: 10_000,
  turns: 500,
  sessions: 1000,
});

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

const lines = [
  { name: "harnesskit", open: ourLine },
  { name: "LangGraph", open: theirLine },
];
const line = await inRounds(lines, rounds, async ({ open }) => {
  const run = open();
  for (let index = 0; index < 5; index++) await run();
  return latency(run, { count: 30 });
});
printTable(
  ["a run through 100 nodes", "takes", "of harnesskit's"],
  lines.map(({ name }) => [name, micros(line, name), times(line, name, "harnesskit")]),
);

// One turn in each of many sessions at once, and the same turns one after the other.
const parallel = async ({ isParallel }) => {
  const { turn, close } = ourConversation();
  const names = Array.from({ length: sessions }, (_, index) => `s${index}`);
  const round = async () => {
    if (isParallel) await Promise.all(names.map((name) => turn(name)));
    else for (const name of names) await turn(name);
  };
  await round();
  const cost = (await latency(round, { count: 5 })) / sessions;
  await close();
  return cost;
};
const ways = [
  { name: "one after the other", isParallel: false },
  { name: "at once", isParallel: true },
];
const many = await inRounds(ways, rounds, parallel);
console.log();
printTable(
  [`a turn in each of ${sessions} sessions`, "takes", "of a turn alone"],
  ways.map(({ name }) => [name, micros(many, name), times(many, name, ways[0].name)]),
);

console.log();
const rows = [];
for (const length of [10, history]) {
  const { bytes, rows: written } = await writesPerTurn(ourConversation, { history: length, turns: 20 });
  rows.push([`${length} messages`, written.toFixed(1), `${(bytes / 1024).toFixed(1)} KiB`]);
}
printTable(["a turn on SQLite behind", "rows written", "write-ahead log"], rows);
