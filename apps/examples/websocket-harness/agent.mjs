// An agent that asks a harness over WebSocket: `node agent.mjs ws://127.0.0.1:PORT/ahp TOKEN_FILE [TOOL…]`.
import { readFile } from "node:fs/promises";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";

const [url, tokenFile, ...tools] = process.argv.slice(2);
const bearer = (await readFile(tokenFile, "utf8")).trim();
// `credentialsIn: "query"` sends it as `?token=…`, for harnesses that read no header.
const transport = createWebSocketTransport({ url, credentials: { bearer } });
const client = createAhpClient({
  transport,
  framework: "example-agent",
  version: "1.0.0",
  agentId: "agent-1",
});

const { harness_info } = await client.connect();
console.log(`harness ${harness_info.name}`);
for (const tool_name of tools.length > 0 ? tools : ["ls", "rm"]) {
  const { decision } = await client.decide("pre_action", { tool_name, arguments: {} });
  console.log(`${tool_name}: ${decision.decision}${decision.reason ? ` (${decision.reason})` : ""}`);
  if (decision.decision === "allow") client.notify("post_action", { tool_name, status: "ok" });
}
const idle = await client.decide("idle", { idle_duration_ms: 5000, idle_reason: "no_input" });
console.log(`background work: ${idle.decision.decision}`);
await client.flush();
await client.close();
