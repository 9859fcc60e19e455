export { temporaryDirectory } from "../../../test-kit/test-kit.ts";

import { spawn } from "node:child_process";
import { once } from "node:events";
import { agentMessages } from "@harnesskit/protocol/runtime";
import { type Channel, lengthPrefixCodec } from "@harnesskit/wire";
import { createMemoryPair, type MemoryPairOptions } from "@harnesskit/wire/testing";
import { expect } from "vitest";
import type { Agent } from "../src/index.ts";

/** A message as a core sees it. */
export interface Seen {
  v: number;
  type: string;
  id: string;
  ts: string;
  in_reply_to?: string;
  request_id?: string;
  correlation_id?: string;
  causation_id?: string;
  error?: any;
  payload: any;
}

export const token = "tok-5e1f0c-secret";
export const agentId = "com.example.agent";

let count = 0;
const uniqueId = (): string => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`;

export const envelope = (type: string, payload: object, more: object = {}) => ({
  v: 1,
  type,
  id: uniqueId(),
  ts: "2026-01-16T12:00:00Z",
  payload,
  ...more,
});

export const welcome = (more: object = {}) => ({
  accepted_version: 1,
  session_id: "ses_1",
  heartbeat_interval_ms: 5000,
  max_frame_bytes: 4 * 1024 * 1024,
  server: { core_version: "1.0.0", instance_id: "core_1" },
  ...more,
});

export interface CoreOptions {
  readonly welcome?: object;
  /** Takes messages as they come and answers nothing by itself. */
  readonly isSilent?: boolean;
  /** Ids to reject with `tool.invalid_declaration`. */
  readonly reject?: readonly string[];
}

/** The other side of an agent: every message is checked against its schema, greeted and registered as a core would. */
export class ScriptedCore {
  readonly seen: Seen[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #options: CoreOptions;
  /** Holds the reading back while it is pending. */
  hold: Promise<void> | undefined;

  constructor(
    readonly channel: Channel,
    options: CoreOptions = {},
  ) {
    this.#options = options;
    const wake = () => {
      for (const resume of this.#waiting.splice(0)) resume();
    };
    channel.start({
      message: (message) => {
        this.#take(message as Seen);
        wake();
        return this.hold;
      },
      error: () => {},
      close: wake,
    });
  }

  #take(message: Seen): void {
    const schema = agentMessages[message.type as keyof typeof agentMessages];
    expect(schema?.safeParse(message).error).toBeUndefined();
    this.seen.push(message);
    if (this.#options.isSilent) return;
    if (message.type === "agent.hello") this.send("core.welcome", welcome(this.#options.welcome));
    if (message.type !== "agent.tools.register") return;
    const ids = message.payload.tools.map(({ tool_id }: { tool_id: string }) => tool_id) as string[];
    const rejected = ids.filter((id) => this.#options.reject?.includes(id));
    this.send(
      "core.tools.registered",
      {
        registered: ids.filter((id) => !rejected.includes(id)),
        rejected: rejected.map((tool_id) => ({
          tool_id,
          error: { code: "tool.invalid_declaration", message: "not today" },
        })),
      },
      { in_reply_to: message.id },
    );
  }

  send(type: string, payload: object, more: object = {}): string {
    const message = envelope(type, payload, more);
    void this.channel.send(message).catch(() => {});
    return message.id;
  }

  /** Calls a tool; gives the call's id. */
  call(tool: string, input: object = {}, payload: object = {}, more: object = {}): string {
    const call_id = (payload as { call_id?: string }).call_id ?? uniqueId();
    const body = { call_id, tool_id: `${agentId}/${tool}`, input, ...payload };
    this.send("core.tool.call", body, { request_id: `req-${call_id}`, ...more });
    return call_id;
  }

  cancel(call_id: string, more: object = {}): string {
    return this.send("core.tool.cancel", { call_id, ...more });
  }

  /** The first message that fits, now or later. */
  async until(fits: (message: Seen) => boolean, what = "a message"): Promise<Seen> {
    for (;;) {
      const found = this.seen.find(fits);
      if (found) return found;
      if (this.channel.signal.aborted) expect.fail(`the channel closed before ${what} came`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits until so many messages of a type have come. */
  async count(type: string, count: number): Promise<void> {
    while (this.all(type).length < count) {
      if (this.channel.signal.aborted) expect.fail(`the channel closed before ${count} ${type} came`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  type(type: string): Promise<Seen> {
    return this.until((message) => message.type === type, type);
  }

  all(type: string): Seen[] {
    return this.seen.filter((message) => message.type === type);
  }

  result(callId: string): Promise<Seen> {
    return this.until(
      ({ type, payload }) => type === "agent.tool.result" && payload.call_id === callId,
      `the result of ${callId}`,
    );
  }

  results(callId: string): Seen[] {
    return this.all("agent.tool.result").filter(({ payload }) => payload.call_id === callId);
  }

  streams(callId: string): Seen[] {
    return this.all("agent.tool.stream").filter(({ payload }) => payload.call_id === callId);
  }

  /** Settles when everything that was sent before has been handled. */
  async settled(): Promise<void> {
    const id = this.send("core.ping", {});
    await this.until(({ type, in_reply_to }) => type === "agent.pong" && in_reply_to === id, "the pong");
  }
}

/** Two linked channels with the protocol's framing. */
export const linked = (options: MemoryPairOptions = {}) =>
  createMemoryPair({ codec: lengthPrefixCodec(), ...options });

/** An agent that serves a scripted core. */
export const connected = async (agent: Agent, options: CoreOptions & { pair?: MemoryPairOptions } = {}) => {
  const pair = linked(options.pair);
  const core = new ScriptedCore(pair.server, options);
  const session = await agent.connect(pair.client, { token });
  return { core, session, pair };
};

/** What a promise was rejected with; fails when it was not. */
export const rejection = async (promise: Promise<unknown>): Promise<any> => {
  const outcome = await promise.then(
    () => "it was not rejected",
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Error);
  return outcome;
};

/** What a function threw; fails when it did not. */
export const thrown = (run: () => unknown): any => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was thrown");
};

/** A process that is killed after the scope; its output is kept. */
export const startProcess = (
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
) => {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const exit = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    output,
    exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
};
