import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { onTestFinished } from "vitest";

export interface TestEvent {
  readonly type: string;
  readonly session: string;
  readonly payload: any;
  readonly metadata: any;
}

export type Decide = (event: { event_type: string; payload: any; metadata?: any }) => unknown;

export interface TestHarness {
  readonly ahp: AhpClient;
  readonly events: TestEvent[];
  /** The payload of the last outcome that was reported. */
  outcome(): Promise<any>;
}

/** A harness in this process and a client of it; without `decide` it is away. */
export const testHarness = (
  decide: Decide | undefined,
  { prompts = false }: { readonly prompts?: boolean } = {},
): TestHarness => {
  const events: TestEvent[] = [];
  const note = ({ event_type: type, session_id: session, payload, metadata }: any) => {
    events.push({ type, session, payload, metadata });
  };
  const gate = (event: any): never => {
    note(event);
    return decide?.(event) as never;
  };
  const handlers = {
    pre_action: gate,
    ...(prompts && { pre_prompt: gate }),
    confirmation: gate,
    post_action: note as never,
    session_start: note as never,
    session_end: note as never,
  };
  const capabilities = ["pre_action", "post_action", ...(prompts ? ["pre_prompt"] : [])];
  const harness = createAhpServer({ name: "test", version: "1.0.0", handlers, capabilities });
  const handle = (message: unknown, { signal }: { signal: AbortSignal }) =>
    decide === undefined
      ? Promise.reject(new TypeError("no harness"))
      : harness.handle(message, { signal, principal: "test" } as never);
  const ahp = createAhpClient({
    exchange: { handle } as never,
    framework: "test",
    version: "1.0.0",
    reconnect: { initialDelayMs: 10, maxDelayMs: 20, waitMs: 200, maxAttempts: Number.POSITIVE_INFINITY },
  });
  ahp.connect({ retry: true }).catch(() => {});
  onTestFinished(async () => {
    await ahp.close();
    await harness.close();
  });
  const outcome = async () => {
    await ahp.flush();
    return events.filter(({ type }) => type === "post_action").at(-1)?.payload;
  };
  return { ahp, events, outcome };
};
