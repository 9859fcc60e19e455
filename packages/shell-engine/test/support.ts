import type { ActionDirective, Continuation, ShellResponse } from "@harnesskit/protocol/openharness";
import { responseExtensionOf, ShellResponseSchema } from "@harnesskit/protocol/openharness";
import type { Clock } from "@harnesskit/wire";
import { expect } from "vitest";
import type { ShellEngine, ShellLogLine } from "../src/index.ts";

/** A clock that stands until it is moved. */
export class TestClock implements Clock {
  #now = 1_000_000;
  #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  elapsedMs(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get timers(): number {
    return this.#timers.size;
  }

  move(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((one, other) => one.at - other.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.callback();
    }
  }
}

/** Every capability that this project's engine may offer. */
export const able = {
  "openharness.actions.parallel": true,
  "openharness.ui.rich_cards": true,
  "openharness.ui.approval": true,
};

/** A request with this context. */
export const request = (context: object = {}, fields: object = {}, payload: object = {}) => ({
  protocol_version: "1.0.0",
  request_id: undefined as string | undefined,
  capabilities: able,
  ...fields,
  request: { context: { session_id: "s1", ...context }, ...payload },
});

export const say = (message: string): ActionDirective => ({
  action_type: "render_message",
  payload: { message },
});

/** Sends a message as JSON would carry it, and checks that what comes back is a response that JSON carries as it is. */
export const send = async <Context>(
  engine: ShellEngine<Context>,
  message: unknown,
  context: unknown = { principal: "me" },
): Promise<ShellResponse> => {
  const text = JSON.stringify(message);
  const inbound: unknown = text === undefined ? message : JSON.parse(text);
  const response = await engine.handle(inbound, context as Context);
  const carried: unknown = JSON.parse(JSON.stringify(response));
  expect(ShellResponseSchema.parse(carried)).toEqual(carried);
  return response;
};

export const codeOf = ({ response }: ShellResponse): string => response.error?.code ?? response.status;

export const messagesOf = ({ response }: ShellResponse): unknown[] =>
  (response.action_directives ?? []).map(({ payload }) => payload?.message);

export const continuationOf = (response: ShellResponse): Continuation => {
  const continuation = responseExtensionOf(response.response.extensions)?.continuation;
  expect(continuation?.continuation_token).toBeTypeOf("string");
  return continuation ?? {};
};

/** A log that is kept. */
export const keptLog = () => {
  const lines: ShellLogLine[] = [];
  return { lines, log: (line: ShellLogLine) => lines.push(line), text: () => JSON.stringify(lines) };
};
