// An agent as a process of its own, to be killed: node agent-life.mjs DIRECTORY NAME STATE...
// It asks for one call after the other, at any of the hubs of these states, does each that is allowed by a line in a file, and reports it.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAhpClient } from "../../../packages/ahp-client/dist/index.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";

process.stdin.resume().once("end", () => process.exit(1));
const [, , directory, name, ...states] = process.argv;
const file = join(directory, `current-${name}`);
const read = () => {
  try {
    return Number(readFileSync(file, "utf8")) || 0;
  } catch {
    return 0;
  }
};

const clients = states.map((state) =>
  createAhpClient({
    transport: createUnixTransport({ path: hubPlace({ state }).socket, framing: "newline" }),
    ...{ framework: "crash", version: "1.0.0", agentId: name, sessionId: "crash" },
    reconnect: { maxAttempts: Number.POSITIVE_INFINITY, initialDelayMs: 10, maxDelayMs: 50 },
    resend: { calls: ["pre_action"], maxAttempts: 20 },
  }),
);
await Promise.any(clients.map((client) => client.connect({ retry: true, timeoutMs: 60_000 })));
process.stdout.write("ready\n");

let turn = process.pid;
for (let call = read(); ; call++) {
  writeFileSync(file, String(call));
  const payload = {
    ...{ action_type: "tool_call", tool_name: "bash", tool_call_id: `call_${call}` },
    arguments: { command: `effect ${call}` },
  };
  for (;;) {
    // Asked at one hub, repeated at the next.
    const client = clients[turn++ % clients.length];
    const { origin, decision } = await client.decide("pre_action", payload, {
      timeoutMs: 3000,
      metadata: { wait_ms: 300 },
    });
    if (origin === "client") {
      await sleep(20);
      continue;
    }
    if (decision.decision === "defer") {
      await sleep(decision.retry_after_ms);
      continue;
    }
    if (decision.decision === "allow") {
      // The effect: it must be there at most once for each approval.
      appendFileSync(join(directory, "effects"), `${call} ${decision.metadata.approval.id}\n`);
      client.notify("post_action", { ...payload, outcome: "success" });
    }
    break;
  }
}
