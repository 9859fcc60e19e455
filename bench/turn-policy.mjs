// A turn of the main job under the default policy, side by side with the same turn without; and its first turn.
// Usage: node bench/turn-policy.mjs [--rounds 15] [--turns 10] [--starts 5]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createPeer } from "@harnesskit/wire/rpc";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    turns: { type: "string", default: "10" },
    starts: { type: "string", default: "5" },
  },
});
const rounds = Number(values.rounds);
const turns = Number(values.turns);
const starts = Number(values.starts);

const binPath = fileURLToPath(new URL("../apps/cli/dist/bin.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "bench-turn-"));
writeFileSync(join(directory, "README.md"), "# Demo\n\nA small demo.\n");
const state = join(directory, "state");

/** Four calls that both let pass without a question, so that the tools are the same and no question is asked. */
const prompt = "read README.md, then list files, then search for demo, then read README.md";

const contenders = [
  { name: "no policy", args: ["--no-policy"] },
  { name: "default policy", args: [] },
];

/** A server with a thread; `turn` runs one turn to its end. */
const serve = async ({ name, args }) => {
  const transport = createChildTransport({
    command: process.execPath,
    args: [binPath, "serve", "--cwd", directory, ...args],
    env: { XDG_STATE_HOME: state },
    stderr: "ignore",
    closeTimeoutMs: 10_000,
  });
  let calls = 0;
  let onEnd = () => {};
  const peer = createPeer(await transport.connect(), {
    notification(method, params) {
      if (method === "turn.completed" || method === "turn.error") onEnd(params);
      if (method !== "item.completed" || params.item.type !== "tool_exec") return;
      if (params.item.data.status === "succeeded") calls++;
    },
  });
  await peer.request("initialize", {});
  const { threadId } = (await peer.request("thread.create", {})).thread;
  const turn = async () => {
    calls = 0;
    const ended = new Promise((resolve) => {
      onEnd = resolve;
    });
    await peer.request("turn.start", { threadId, input: [{ type: "text", text: prompt }] });
    const { status, error } = await ended;
    if (status !== "completed" || calls !== 4) throw new TypeError(`${status} ${error}, ${calls} calls`);
  };
  return { name, turn, close: () => peer.close() };
};

/** `harness run hello`, from its start to its end, in milliseconds. */
const start = async ({ args }) => {
  const begin = performance.now();
  const child = spawn(process.execPath, [binPath, "run", "--cwd", directory, ...args, "hello"], {
    stdio: "ignore",
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new TypeError(`harness run ended with ${code}`);
  return performance.now() - begin;
};

try {
  const running = [];
  let figures;
  try {
    for (const contender of contenders) running.push(await serve(contender));
    for (const { turn } of running) for (let index = 0; index < turns; index++) await turn();
    figures = await inRounds(running, rounds, async ({ turn }) => {
      const begin = performance.now();
      for (let index = 0; index < turns; index++) await turn();
      return (performance.now() - begin) / turns;
    });
  } finally {
    for (const { close } of running) await close();
  }
  const first = await inRounds(contenders, starts, start);
  const [without, under] = contenders.map(({ name }) => name);
  const ms = (all, name) => `${median(all.get(name)).toFixed(1)} ms`;
  console.log(
    `median of ${rounds} rounds of ${turns} turns and of ${starts} starts, Node ${process.version}\n`,
  );
  printTable(
    ["", "no policy", "default policy", "of it"],
    [
      [
        "a turn with four tool calls",
        ms(figures, without),
        ms(figures, under),
        `${ratio(figures, under, without).toFixed(2)}× (≤ 1.25)`,
      ],
      [
        "`harness run hello`, start and end",
        ms(first, without),
        ms(first, under),
        `${ratio(first, under, without).toFixed(2)}×`,
      ],
    ],
  );
} finally {
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
