import { createAhpClient } from "@harnesskit/ahp-client";
import { createThreadGates } from "@harnesskit/ahp-client/thread-gates";
import { createMemoryGrants, toGrants } from "@harnesskit/core-runtime";
import { createAgentHost, createAgentTools } from "@harnesskit/core-runtime/thread-tools";
import { createThreadServer } from "@harnesskit/thread-server";
import { createChildTransport, createStdioChannel } from "@harnesskit/transport-stdio";
import { traceAs } from "./telemetry.mjs";

const close = await traceAs("thread server");
const here = import.meta.dirname;
const onError = (error) => console.error(error);

const client = createAhpClient({
  transport: createChildTransport({
    command: process.execPath,
    args: ["policy.mjs"],
    cwd: here,
    inheritEnv: ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"],
  }),
  framework: "example",
  version: "1.0.0",
});
await client.connect();
const host = createAgentHost({
  agents: [{ agentId: "com.example.deployer", directory: `${here}/agent` }],
  grants: createMemoryGrants(
    toGrants({ agent_id: "com.example.deployer", permissions: ["side_effects"], granted_by: "example" }),
  ),
  environment: process.env,
  version: "1.0.0",
  onError,
});
const gates = createThreadGates({ client, toolAgent: "com.example" });
const server = createThreadServer({
  runner: {
    async run(turn) {
      const [tool] = turn.tools;
      await turn.callTool({ callId: "call-1", tool: tool.name, input: { to: "production" } });
      const message = turn.message();
      message.append("Deployed.");
      await message.complete();
    },
  },
  tools: createAgentTools({ host, callerId: "example" }),
  ...gates,
  onError,
});
const channel = createStdioChannel();
server.connect(channel);
await channel.closed;
await server.close();
await host.close();
await client.close();
await close();
