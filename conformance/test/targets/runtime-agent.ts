import { type Agent, defineAgent, ToolError, tool } from "@harnesskit/agent-sdk";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { lengthPrefixCodec } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";
import { tcpTransport } from "./tcp.ts";

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });

const echoOf = (name: string) =>
  tool({
    name,
    description: "Gives its text back",
    input: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
    effects: "read",
    run: ({ text }) => ({ text }),
  });

/** The test agent of the suite: its tool `act` does what its input says. */
export const createTestAgent = (): Agent => {
  const act = tool({
    name: "act",
    description: "Does its steps",
    input: {
      type: "object",
      properties: { steps: { type: "array", items: { type: "object" } } },
      required: ["steps"],
      additionalProperties: false,
    },
    effects: "read",
    async run({ steps }, context) {
      let output: object = {};
      for (const step of steps as any[]) {
        for (const channel of ["status", "stdout", "stderr", "log"] as const)
          if (channel in step) await context[channel](step[channel]);
        if ("partial" in step) await context.partialResult(step.partial);
        for (let sent = 0; sent < (step.flood ?? 0); sent++) await context.stdout("x".repeat(1000));
        if ("unregister" in step) agent.unregister(step.unregister);
        if ("fail" in step) throw new ToolError(step.fail, "as it was asked");
        if ("throw" in step) throw new Error(step.throw);
        if ("wait" in step) await aborted(context.signal);
        if ("size" in step) output = { text: "x".repeat(step.size) };
        if ("return" in step) output = step.return;
      }
      return output;
    },
  });
  const agent = defineAgent({
    id: "conformance.agent",
    version: "1.0.0",
    tools: [echoOf("echo"), act, echoOf("extra")],
    limits: { maxToolInputBytes: 100_000, maxToolOutputBytes: 100_000, maxStreamBytes: 100_000 },
    onError: () => {},
  });
  return agent;
};

/** Connects it to the suite. */
export const startRuntimeAgent: StartModule = async ({ endpoint, token }) => {
  const agent = createTestAgent();
  const transport = endpoint.startsWith("unix:")
    ? createUnixTransport({ path: endpoint.slice(5) })
    : tcpTransport(endpoint, lengthPrefixCodec());
  const channel = await transport.connect({});
  // A core that breaks the protocol is left; the suite sees that by itself.
  void agent.connect(channel, { token }).catch(() => {});
  return { close: () => agent.stop() };
};
