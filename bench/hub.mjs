// The hub: a decision beside `harness ahp serve` with the same policy and an audit file, the way of an answer to its agent, pages of
// large timelines.
// Usage: node bench/hub.mjs [--rounds 7] [--count 3000] [--in-flight 64] [--answers 200] [--rows 1000000]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createHubClient } from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import { openTimelineStore } from "@harnesskit/store-sqlite";
import { createUnixTransport } from "@harnesskit/transport-uds";
import {
  inRounds,
  latency,
  median,
  optionsFrom,
  perSecond,
  printTable,
  ratio,
  throughput,
} from "./lib/rounds.mjs";

const {
  rounds,
  count,
  inFlight,
  answers,
  rows: rowCount,
} = optionsFrom({
  rounds: 7,
  count: 3000,
  inFlight: 64,
  answers: 200,
  rows: 1_000_000,
});

const bin = new URL("../apps/cli/dist/bin.cjs", import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), "bench-hub-"));
const running = [];

/** A server of the command, once its socket is there. */
const start = async (args, socket) => {
  const child = spawn(process.execPath, [bin, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, XDG_STATE_HOME: join(root, "state") },
  });
  running.push(child);
  while (!existsSync(socket)) await sleep(50);
  return child;
};

const agentAt = async (socket, sessionId = "bench") => {
  const client = createAhpClient({
    transport: createUnixTransport({ path: socket, framing: "newline" }),
    ...{ framework: "bench", version: "1.0.0", agentId: "bench", sessionId },
  });
  await client.connect();
  return client;
};

const read = (id) => ({
  action_type: "tool_call",
  tool_name: "read",
  tool_call_id: `call_${id}`,
  arguments: { path: "src/index.ts" },
});
const metadata = { tool_id: "harnesskit.workspace/read", workspace: "/work/project", turn_id: "turn_1" };

const decide = async (agent, id) => {
  const { decision } = await agent.decide("pre_action", read(id), { metadata });
  if (decision.decision !== "allow") throw new Error(`not allowed: ${JSON.stringify(decision)}`);
};

let next = 0;
const rateOf = ({ agent }, atOnce) => throughput(() => decide(agent, next++), { count, inFlight: atOnce });

const fill = async (file, rows) => {
  const store = await openTimelineStore({ file });
  const nowMs = Date.now();
  for (let written = 0; written < rows; written += 1000) {
    const changes = Array.from({ length: Math.min(1000, rows - written) }, (_, index) => ({
      type: "add",
      row: {
        type: "pre_action",
        atMs: nowMs - rows + written + index,
        agent: `agent-${index % 5}`,
        session: `session-${Math.floor(written / 1000)}`,
        ...{ turn: `turn-${index % 20}`, callId: `call-${written + index}`, depth: 0, tool: "bash" },
        summary: `bash npm test -- --filter ${written + index}`,
        state: index % 50 === 0 ? "failed" : "done",
        decision: { decision: "allow", source: "rule", rule: "commands", reason: "it only runs tests" },
        ...{ durationMs: 12, outcome: "ok" },
      },
      content: { event: { value: { payload: read(index), metadata }, isCut: false } },
    }));
    await store.write(changes);
  }
  return store;
};

const pageMs = async (store, filter) => {
  const page = async () => {
    const { rows } = await store.page({ limit: 100, ...(filter && { filter }) });
    if (rows.length !== 100) throw new Error(`a page of ${rows.length} rows`);
  };
  return (await latency(page, { count: 60 })) / 1000;
};

try {
  const ahpSocket = join(root, "ahp.sock");
  const place = hubPlace({ state: join(root, "hub") });
  const audit = ["--audit", join(root, "ahp.jsonl"), "--quiet"];
  await start(["ahp", "serve", "--unix", ahpSocket, "--policy", "default", ...audit], ahpSocket);
  await start(["hub", "--state", place.directory, "--quiet"], place.apiSocket);
  const contenders = [
    { name: "ahp serve", agent: await agentAt(ahpSocket) },
    { name: "hub", agent: await agentAt(place.socket) },
  ];
  for (const contender of contenders) await rateOf(contender, inFlight);
  const loaded = await inRounds(contenders, rounds, (each) => rateOf(each, inFlight));
  const single = await inRounds(contenders, rounds, (each) => rateOf(each, 1));
  const row = (what, found, wanted) => [
    what,
    perSecond(found, "ahp serve"),
    perSecond(found, "hub"),
    ratio(found, "hub", "ahp serve").toFixed(2),
    wanted,
  ];
  printTable(
    ["decisions per second", "ahp serve", "hub", "ratio", "wanted"],
    [row(`${inFlight} in flight`, loaded, "0.60"), row("one after the other", single, "0.60")],
  );

  const client = createHubClient({
    transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
    client: { name: "bench" },
  });
  await client.connect();
  const agent = await agentAt(place.socket, "answers");
  const inbox = client.watchInbox({ afterSeq: 0 });
  const times = [];
  for (let answer = 0; answer < answers; answer++) {
    const deciding = agent.decide("pre_action", {
      ...{ action_type: "tool_call", tool_name: "bash", tool_call_id: `answer_${answer}` },
      arguments: { command: `./deploy.sh ${answer}` },
    });
    let record;
    do record = (await inbox.next()).value;
    while (record.status !== "pending");
    const startedMs = performance.now();
    const answering = client.call("inbox.answer", {
      ...{ id: record.id, digest: record.digest, decision: "approve" },
    });
    const { decision } = await deciding;
    times.push(performance.now() - startedMs);
    await answering;
    if (decision.decision !== "allow") throw new Error(JSON.stringify(decision));
    agent.notify("post_action", {
      ...{ tool_name: "bash", tool_call_id: `answer_${answer}`, arguments: {}, outcome: "success" },
    });
    if (answer % 100 === 99) await sleep(1000);
  }
  const sorted = times.sort((a, b) => a - b);
  printTable(
    ["answer to effect", "p50 ms", "p99 ms", "wanted"],
    [["held agent", median(sorted).toFixed(1), sorted[Math.floor(sorted.length * 0.99)].toFixed(1), "50"]],
  );
  await client.close();

  const small = await fill(join(root, "small.db"), 1000);
  const large = hubPlace({ state: join(root, "large") });
  const big = await fill(join(large.directory, "timeline.db"), rowCount);
  const pages = [
    ["newest", undefined],
    ["of one agent", { agent: "agent-1" }],
    ["with text", { text: "npm test" }],
  ];
  const table = [];
  for (const [what, filter] of pages) {
    const [few, many] = [await pageMs(small, filter), await pageMs(big, filter)];
    table.push([what, few.toFixed(2), many.toFixed(2), (many / few).toFixed(2), "≤ 2"]);
  }
  printTable(["page of 100 rows", "1,000: ms", `${rowCount}: ms`, "ratio", "wanted"], table);
  await small.close();
  await big.close();

  for (const { agent: each } of contenders) await each.close();
  await agent.close();
} finally {
  for (const child of running) child.kill();
  rmSync(root, { recursive: true, force: true });
}
