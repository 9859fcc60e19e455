import { createAhpServer } from "@harnesskit/ahp-server";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { traceAs } from "./telemetry.mjs";

const close = await traceAs("policy");
const harness = createAhpServer({
  name: "example",
  version: "1.0.0",
  handlers: {
    pre_prompt: () => ({ decision: "allow" }),
    pre_action: () => ({
      decision: "escalate",
      reason: "a deployment needs a human",
      escalation_target: "user",
      metadata: { policy: { rule: "ask-before-deployments" } },
    }),
    fallback: () => ({ decision: "allow" }),
  },
});
const channel = createStdioChannel();
harness.connect(channel);
await channel.closed;
await harness.close();
await close();
