// @ts-check
// An agent server on standard input and output: agents' tools, a loop on the AI SDK, a policy, approvals.
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createThreadGates } from "@harnesskit/ahp-client/thread-gates";
import { createAhpServer } from "@harnesskit/ahp-server";
import { createMemoryGrants, toGrants } from "@harnesskit/core-runtime";
import { createAgentHost, createAgentTools } from "@harnesskit/core-runtime/thread-tools";
import { createModel } from "@harnesskit/models";
import { createPolicyHarness } from "@harnesskit/policy";
import { loadPolicy } from "@harnesskit/policy/node";
import { createThreadServer } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { createScriptedModel } from "./scripted-model.mjs";

const onError = (/** @type {unknown} */ error) => console.error(error);
const agentId = "com.example.hello";
const workspace = process.cwd();

// The core: each agent runs in a process of its own, and may do what the operator granted.
const host = createAgentHost({
  agents: [{ agentId, directory: fileURLToPath(new URL("../hello-agent", import.meta.url)) }],
  grants: createMemoryGrants(
    toGrants({ agent_id: agentId, permissions: ["fs.write", "side_effects"], granted_by: "embedder" }),
  ),
  environment: process.env,
  version: "1.0.0",
  onError,
});

// The policy: a harness in this process, which judges each prompt and each call.
const policy = await loadPolicy(fileURLToPath(new URL("policy.yaml", import.meta.url)));
const { handlers, capabilities } = createPolicyHarness({ policy });
const harness = createAhpServer({ name: "embedder", version: "1.0.0", handlers, capabilities });
const exchange = { handle: (/** @type {unknown} */ message) => harness.handle(message, {}) };
const supervised = createAhpClient({ exchange, framework: "embedder", version: "1.0.0" });
await supervised.connect();
const { gate, promptGate, observer } = createThreadGates({ client: supervised, toolAgent: agentId });

// The agent loop: any model of the AI SDK. The server stores threads, and asks the client where the policy says so.
const model = process.env.MODEL ? await createModel(process.env.MODEL) : createScriptedModel();
const server = createThreadServer({
  runner: createAiSdkRunner({ model }),
  tools: createAgentTools({ host }),
  store: createFileThreadStore({ root: `${workspace}/.harness` }),
  resolveDirectory: createDirectoryResolver(workspace),
  gate,
  promptGate,
  observer,
  onError,
});
const channel = createStdioChannel();
server.connect(channel);
await channel.closed;
for (const part of [server, supervised, harness, host]) await part.close();
