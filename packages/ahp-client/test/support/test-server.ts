import { type AhpServer, createAhpServer } from "@harnesskit/ahp-server";
import type { BlockingEventType } from "@harnesskit/protocol/ahp";
import { agreements } from "./samples.ts";

/** What a harness was asked and told, without what differs between two runs. */
export interface Seen {
  readonly event_type: string;
  readonly session_id: string;
  readonly agent_id: string;
  readonly depth: number;
  readonly payload: unknown;
  readonly context?: unknown;
  readonly metadata?: unknown;
}

/**
 * Our harness with one policy for all transports: it decides every event, keeps what it saw and tells it when it is
 * queried. `slow` waits until the call is given up, `fail` fails.
 */
export const createTestServer = (): AhpServer<any> => {
  const seen: Seen[] = [];
  const decide = (type: BlockingEventType) => (event: any, call: { signal: AbortSignal }) => {
    const { timestamp: _, ...rest } = event;
    seen.push(rest);
    if (event.payload?.slow) {
      return new Promise((_resolve, reject) =>
        call.signal.addEventListener("abort", () => reject(call.signal.reason), { once: true }),
      );
    }
    if (event.payload?.fail) throw new TypeError("the policy is broken");
    if (event.payload?.tool_name === "rm") return { decision: "block", reason: "removes files" };
    return agreements[type];
  };
  const handlers: Record<string, unknown> = {
    fallback: ({ timestamp: _, ...event }: any) => {
      seen.push(event);
      return { decision: "allow" };
    },
    query: ({ query_type, payload }: any, call: { context?: { principal?: unknown } }) => {
      if (query_type === "seen") return { answer: seen };
      if (query_type === "principal") return { answer: call.context?.principal ?? null };
      return { answer: { asked: payload }, reason: "because", alternatives: ["ask a person"] };
    },
  };
  for (const type of Object.keys(agreements) as BlockingEventType[]) handlers[type] = decide(type);
  return createAhpServer<any>({
    name: "test-harness",
    version: "9.9.9",
    handlers: handlers as never,
    limits: { maxDepth: 4, batchSize: 5, timeoutMs: 5000 },
  });
};
