import {
  type AhpHandlers,
  type AhpServerOptions,
  createAhpServer,
  type EventOf,
} from "@harnesskit/ahp-server";
import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { onTestFinished } from "vitest";
import { type AhpClientOptions, createAhpClient } from "../../src/index.ts";

/** An event as a handler saw it. */
export interface Seen {
  readonly type: AhpEventType;
  readonly payload: any;
  readonly depth: number;
  readonly context: any;
}

type Handlers = AhpHandlers<unknown>;

/** Handlers that note each event before they handle it, notifications without a handler too. */
const recording = (handlers: Handlers, seen: Seen[]): Handlers => {
  const note = (type: AhpEventType, event: EventOf<any>) => {
    seen.push({ type, payload: event.payload, depth: event.depth, context: event.context });
  };
  const noted: Record<string, unknown> = { ...handlers };
  for (const type of Object.keys(ahpEvents) as AhpEventType[]) {
    const handler = handlers[type] as ((event: unknown, call: unknown) => unknown) | undefined;
    if (ahpEvents[type].specialised && !handler) continue;
    noted[type] = (event: EventOf<any>, call: unknown) => {
      note(type, event);
      if (handler) return handler(event, call);
      return ahpEvents[type].blocking ? { decision: "allow" } : undefined;
    };
  }
  return noted as Handlers;
};

/** A client and a real harness in this process, after their handshake. Gates without a handler are allowed. */
export const startHarness = async (
  handlers: Handlers = {},
  options: {
    readonly client?: Partial<AhpClientOptions>;
    readonly server?: Partial<AhpServerOptions<unknown>>;
  } = {},
) => {
  const seen: Seen[] = [];
  const server = createAhpServer<unknown>({
    handlers: recording(handlers, seen),
    name: "test-harness",
    version: "9.9.9",
    ...options.server,
  });
  const pair = createMemoryPair();
  server.connect(pair.server);
  const client = createAhpClient({
    framework: "test",
    version: "1.0.0",
    sessionId: "sess-abc",
    agentId: "agent-xyz",
    ...options.client,
    transport: { connect: async () => pair.client },
    reconnect: false,
  } as AhpClientOptions);
  await client.connect();
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  /** Everything that was sent before is handled: a later request was answered, and notifications keep their order. */
  const settled = async (): Promise<void> => {
    await client.flush();
    await client.query("nothing", "settled?").catch(() => {});
  };
  return {
    server,
    client,
    wire: pair,
    seen,
    settled,
    of: (type: AhpEventType) => seen.filter((event) => event.type === type).map(({ payload }) => payload),
    types: () => seen.map(({ type }) => type),
  };
};
