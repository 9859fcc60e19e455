import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { createUnixTransport } from "@harnesskit/transport-uds";

/** An agent that asks the hub before each call of a tool, over its socket. */
export interface Agent {
  readonly client: AhpClient;
  /** Asks about a call; the decision's word and its reason. */
  asks(tool: string, input: Readonly<Record<string, unknown>>, callId: string): Promise<Answer>;
  /** Reports what came of a call. */
  did(tool: string, input: Readonly<Record<string, unknown>>, callId: string, outcome: object): void;
  close(): Promise<void>;
}

export interface Answer {
  readonly decision: string;
  readonly reason?: string | undefined;
}

const call = (tool: string, input: Readonly<Record<string, unknown>>, id: string) => ({
  action_type: "tool_call",
  tool_name: tool,
  arguments: input,
  tool_call_id: id,
});

export const connectAgent = async (path: string, agentId: string, sessionId: string): Promise<Agent> => {
  const client = createAhpClient({
    transport: createUnixTransport({ path, framing: "newline" }),
    framework: "test",
    version: "1.0.0",
    agentId,
    sessionId,
    reconnect: { maxAttempts: 100, maxDelayMs: 200 },
  });
  await client.connect();
  return {
    client,
    async asks(tool, input, callId) {
      for (;;) {
        const verdict = await client.decide("pre_action", call(tool, input, callId) as never);
        // A hub that is gone has not answered: the same call is asked about again when it is back.
        const isLost =
          verdict.origin === "client" && ["connection_lost", "unreachable"].includes(verdict.code);
        if (!isLost && verdict.decision.decision !== "defer") return verdict.decision as Answer;
      }
    },
    did: (tool, input, callId, outcome) =>
      client.notify("post_action", { ...call(tool, input, callId), ...outcome } as never),
    close: () => client.close(),
  };
};
