import { type AhpHandlers, type AhpServerOptions, createAhpServer } from "@harnesskit/ahp-server";
import type { AhpEventType } from "@harnesskit/protocol/ahp";
import { payloads } from "../../../../test-kit/ahp-payloads.ts";

interface Answer {
  readonly result?: any;
  readonly error?: { readonly code: number; readonly data: Record<string, unknown> };
}

const names = { session_id: "sess-abc", agent_id: "agent-xyz" };

/** An event of the agent that shook hands. */
export const event = (type: AhpEventType, more: object = {}) => ({
  event_type: type,
  ...names,
  timestamp: "2026-05-01T00:00:00Z",
  depth: 0,
  payload: payloads[type] as unknown,
  ...more,
});

/** A server under these handlers, asked in exchanges by one agent that shook hands. */
export const startServer = async (
  handlers: AhpHandlers,
  options: Partial<Omit<AhpServerOptions, "handlers">> = {},
) => {
  const errors: unknown[] = [];
  const server = createAhpServer({
    handlers,
    name: "test-harness",
    version: "9.9.9",
    onError: (error) => errors.push(error),
    ...options,
  });
  const agent = { principal: "an agent" };
  let lastId = 0;
  const ask = async (method: string, params: unknown): Promise<Answer> =>
    (await server.handle({ jsonrpc: "2.0", id: ++lastId, method, params }, agent)) as Answer;
  const notify = (params: unknown) => server.handle({ jsonrpc: "2.0", method: "ahp/event", params }, agent);
  const { result: handshake } = await ask("ahp/handshake", {
    protocol_version: "2.4",
    agent_info: { framework: "test", version: "1.0.0", capabilities: ["pre_action"] },
    ...names,
  });
  return { server, handshake, ask, notify, errors };
};
