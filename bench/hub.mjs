// The hub: a decision beside `harness ahp serve` with the same policy and an audit file, and the way of an answer to
// its agent.
// Usage: node bench/hub.mjs [--rounds 5] [--count 2000] [--in-flight 64] [--answers 100]
import { join } from "node:path";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createHubClient } from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { startCommand } from "./lib/command.mjs";
import * as rounds from "./lib/rounds.mjs";

const { inRounds, inTempDir, median, perSecond, printTable, ratio, throughput } = rounds;
const options = rounds.optionsFrom({ rounds: 5, count: 2000, inFlight: 64, answers: 100 });
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
});
