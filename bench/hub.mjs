// The hub: a decision beside `harness ahp serve` with the same policy and an audit file, the way of an answer to its agent, pages of
// large timelines.
// Usage: node bench/hub.mjs [--rounds 5] [--count 2000] [--in-flight 64] [--answers 100] [--rows 100000]
import { join } from "node:path";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createHubClient } from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import { openTimelineStore } from "@harnesskit/store-sqlite";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { startCommand } from "./lib/command.mjs";
import * as rounds from "./lib/rounds.mjs";

const { inRounds, inTempDir, latency, median, perSecond, printTable, ratio, throughput } = rounds;
const options = rounds.optionsFrom({ rounds: 5, count: 2000, inFlight: 64, answers: 100, rows: 100_000 });
const { count, inFlight } = options;

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

/** Decisions of the hub, beside `ahp serve` with the same policy and an audit file. */
const decisions = async (ahpSocket, hubSocket) => {
  const contenders = [
    { name: "ahp serve", agent: await agentAt(ahpSocket) },
    { name: "hub", agent: await agentAt(hubSocket) },
  ];
  for (const contender of contenders) await rateOf(contender, inFlight);
  const rows = [];
  for (const [what, atOnce] of [
    [`${inFlight} in flight`, inFlight],
    ["one after the other", 1],
  ]) {
    const found = await inRounds(contenders, options.rounds, (each) => rateOf(each, atOnce));
    const cells = [perSecond(found, "ahp serve"), perSecond(found, "hub")];
    rows.push([what, ...cells, ratio(found, "hub", "ahp serve").toFixed(2), "0.60"]);
  }
  printTable(["decisions per second", "ahp serve", "hub", "ratio", "wanted"], rows);
  for (const { agent } of contenders) await agent.close();
};

/** The way of a human's answer to the agent that waits for it. A hub takes 120 answers of a human a minute. */
const answers = async ({ socket, apiSocket }) => {
  const transport = createUnixTransport({ path: apiSocket, framing: "newline" });
  const client = createHubClient({ transport, client: { name: "bench" } });
  await client.connect();
  const agent = await agentAt(socket, "answers");
  const inbox = client.watchInbox({ afterSeq: 0 });
  const times = [];
  for (let answer = 0; answer < options.answers; answer++) {
    const call = { tool_name: "bash", tool_call_id: `answer_${answer}` };
    const asked = { ...call, action_type: "tool_call", arguments: { command: `./deploy.sh ${answer}` } };
    const deciding = agent.decide("pre_action", asked);
    let record;
    do record = (await inbox.next()).value;
    while (record.status !== "pending");
    const startedMs = performance.now();
    const { id, digest } = record;
    const answering = client.call("inbox.answer", { id, digest, decision: "approve" });
    const { decision } = await deciding;
    times.push(performance.now() - startedMs);
    await answering;
    if (decision.decision !== "allow") throw new Error(JSON.stringify(decision));
    agent.notify("post_action", { ...call, arguments: {}, outcome: "success" });
  }
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)];
  printTable(
    ["answer to effect", "p50 ms", "p99 ms", "wanted"],
    [["held agent", median(times).toFixed(1), p99.toFixed(1), "50"]],
  );
  await agent.close();
  await client.close();
};

/** Pages of a large timeline, beside those of a small one. */
const pages = async (directory) => {
  const small = await fill(join(directory, "small.db"), 1000);
  const big = await fill(join(directory, "large.db"), options.rows);
  const rows = [];
  for (const [what, filter] of [
    ["newest", undefined],
    ["of one agent", { agent: "agent-1" }],
    ["with text", { text: "npm test" }],
  ]) {
    const [few, many] = [await pageMs(small, filter), await pageMs(big, filter)];
    rows.push([what, few.toFixed(2), many.toFixed(2), (many / few).toFixed(2), "≤ 2"]);
  }
  printTable(["page of 100 rows", "1,000: ms", `${options.rows}: ms`, "ratio", "wanted"], rows);
  await small.close();
  await big.close();
};

await inTempDir(async (directory) => {
  const ahpSocket = join(directory, "ahp.sock");
  const place = hubPlace({ state: join(directory, "hub") });
  const env = { XDG_STATE_HOME: join(directory, "state") };
  const audit = ["--audit", join(directory, "ahp.jsonl"), "--quiet"];
  const ahp = ["ahp", "serve", "--unix", ahpSocket, "--policy", "default", ...audit];
  const servers = [
    await startCommand(ahp, { socket: ahpSocket, env }),
    await startCommand(["hub", "--state", place.directory, "--quiet"], { socket: place.apiSocket, env }),
  ];
  try {
    await decisions(ahpSocket, place.socket);
    await answers(place);
  } finally {
    for (const { close } of servers) await close();
  }
  await pages(directory);
});
