import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryAuditSink } from "@harnesskit/audit";
import { type Channel, type HarnessError, lengthPrefixCodec } from "@harnesskit/wire";
import { createManualClock, createMemoryPair, type MemoryWire } from "@harnesskit/wire/testing";
import { onTestFinished } from "vitest";
import type { Launch, LaunchObserver } from "../../src/admissions.ts";
import type { CallOptions } from "../../src/call-options.ts";
import { RunningCore } from "../../src/core.ts";
import { CoreContext } from "../../src/core-context.ts";
import type { CoreOptions } from "../../src/core-options.ts";
import { CoreDirectory } from "../../src/launch/core-directory.ts";

export type Message = Record<string, any>;

export const silentObserver: LaunchObserver = {
  connected() {},
  registered() {},
  health() {},
  disconnected() {},
};

/** What an agent says, on a channel that somebody else reads. */
export class AgentVoice {
  sessionId = "";

  constructor(
    readonly channel: Channel,
    readonly agentId: string,
  ) {}

  envelope(type: string, payload: unknown, extra: Message = {}): Message {
    return { v: 1, type, id: randomUUID(), ts: new Date().toISOString(), payload, ...extra };
  }

  send(type: string, payload: unknown, extra: Message = {}): Message {
    const message = this.envelope(type, payload, extra);
    this.sendRaw(message);
    return message;
  }

  sendRaw(message: unknown): void {
    this.channel.send(message).catch(() => {});
  }

  hello(token: string, payload: Message = {}): Message {
    return this.send("agent.hello", {
      session_token: token,
      agent_id: this.agentId,
      agent_version: "1.2.3",
      protocol: { supported_versions: [1], capabilities: ["tools", "streaming", "cancellation"] },
      ...payload,
    });
  }

  heartbeat(status = "ok", payload: Message = {}): void {
    this.send("agent.heartbeat", {
      session_id: this.sessionId,
      uptime_ms: 1,
      inflight_calls: 0,
      status,
      ...payload,
    });
  }

  result(call: Message, payload: Message): void {
    this.send("agent.tool.result", { call_id: call.payload.call_id, ...payload }, echoOf(call));
  }

  succeed(call: Message, output: Message = {}): void {
    this.result(call, { status: "succeeded", output });
  }

  stream(call: Message, seq: number, text: string, extra: Message = {}): void {
    this.send(
      "agent.tool.stream",
      { call_id: call.payload.call_id, seq, channel: "stdout", data: { text }, ...extra },
      echoOf(call),
    );
  }
}

/** An agent that does what a test says. */
export class ScriptedAgent extends AgentVoice {
  readonly received: Message[] = [];
  closed = false;
  closeError: HarnessError | undefined;
  onMessage: ((message: Message) => void) | undefined;
  readonly #waiting: { type: string; resolve: (message: Message) => void }[] = [];

  constructor(
    channel: Channel,
    agentId: string,
    readonly wire?: MemoryWire,
  ) {
    super(channel, agentId);
    channel.start({
      message: (message) => this.#take(message as Message),
      error() {},
      close: ({ error }) => {
        this.closed = true;
        this.closeError = error;
      },
    });
  }

  /** Waits for a message of this type that nobody has waited for yet. */
  next(type: string): Promise<Message> {
    const found = this.received.findIndex((message) => message.type === type && !message.taken);
    if (found >= 0) {
      const message = this.received[found] as Message;
      Object.defineProperty(message, "taken", { value: true });
      return Promise.resolve(message);
    }
    return new Promise((resolve) => this.#waiting.push({ type, resolve }));
  }

  async connect(token: string, payload: Message = {}): Promise<Message> {
    this.hello(token, payload);
    const welcome = await this.next("core.welcome");
    this.sessionId = welcome.payload.session_id;
    return welcome;
  }

  async register(tools: readonly unknown[], replace?: boolean): Promise<Message> {
    this.send("agent.tools.register", { tools, ...(replace !== undefined && { replace }) });
    return await this.next("core.tools.registered");
  }

  /** Answers each call from now on. */
  answer(output: Message = {}): void {
    this.onMessage = (message) => {
      if (message.type === "core.tool.call") this.succeed(message, output);
    };
  }

  ofType(type: string): Message[] {
    return this.received.filter((message) => message.type === type);
  }

  #take(message: Message): void {
    this.received.push(message);
    const waiting = this.#waiting.findIndex(({ type }) => type === message.type);
    if (waiting >= 0) {
      Object.defineProperty(message, "taken", { value: true });
      this.#waiting.splice(waiting, 1)[0]?.resolve(message);
    }
    this.onMessage?.(message);
  }
}

const echoOf = (call: Message): Message => ({
  request_id: call.request_id,
  ...(call.correlation_id !== undefined && { correlation_id: call.correlation_id }),
  ...(call.causation_id !== undefined && { causation_id: call.causation_id }),
});

export interface PairOptions {
  readonly maxFrameBytes?: number;
  readonly maxBufferedBytes?: number;
  readonly capacityBytes?: number;
}

/** A connection to the core, before its hello. */
export const open = (core: RunningCore, agentId = "demo.agent", options: PairOptions = {}): ScriptedAgent => {
  const { maxFrameBytes, ...pairOptions } = options;
  const codec = lengthPrefixCodec(maxFrameBytes === undefined ? {} : { maxFrameBytes });
  const { client, server, clientWire } = createMemoryPair({ codec, closeTimeoutMs: 50, ...pairOptions });
  core.connect(server);
  return new ScriptedAgent(client, agentId, clientWire);
};

/** A core without a socket. It closes with its test. */
export const coreOf = (options: CoreOptions): RunningCore => {
  const directory = new CoreDirectory(join(tmpdir(), `hk-no-core-${randomUUID()}`));
  const core = new RunningCore(new CoreContext(options), directory);
  onTestFinished(() => core.close());
  return core;
};

/** A core for tests of anything but permissions: it allows each call. */
export const openCore = (options: CoreOptions = {}): RunningCore =>
  coreOf({ authorize: () => ({ allowed: true }), ...options });

/** A core with a clock and an audit of its own. */
export const openAudited = (options: CoreOptions = {}) => {
  const audit = createMemoryAuditSink();
  const clock = createManualClock();
  const core = openCore({ audit, clock, ...options });
  const entries = () => audit.entries().filter((entry) => "action" in entry) as Record<string, any>[];
  return { audit, clock, core, entries };
};

/** Such a core, and an agent with a session. */
export const setUp = async (options: CoreOptions = {}, connecting?: Parameters<typeof connected>[1]) => {
  const opened = openAudited(options);
  const { agent, admission } = await connected(opened.core, connecting);
  const call = (text = "", given?: CallOptions) => opened.core.call("demo.agent/echo", { text }, given);
  return { ...opened, agent, admission, call };
};

let launches = 0;

export const launchOf = (agentId: string, rest: Partial<Launch> = {}): Launch => ({
  launchId: `launch-${++launches}`,
  agentId,
  ...rest,
});

/** A tool that takes `{ text }` and may say anything. */
export const echoTool = (agentId = "demo.agent", name = "echo", rest: Message = {}): Message => ({
  tool_id: `${agentId}/${name}`,
  name,
  description: "Says what it hears.",
  input_schema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  },
  ...rest,
});

/** An agent that has said hello and registered `tools`. */
export const connected = async (
  core: RunningCore,
  options: {
    agentId?: string;
    tools?: readonly Message[];
    launch?: Partial<Launch>;
    observer?: LaunchObserver;
    hello?: Message;
    pair?: PairOptions;
  } = {},
) => {
  const agentId = options.agentId ?? "demo.agent";
  const admission = core.admit(launchOf(agentId, options.launch), options.observer ?? silentObserver);
  const agent = open(core, agentId, options.pair);
  const welcome = await agent.connect(admission.token, options.hello);
  await agent.register(options.tools ?? [echoTool(agentId)]);
  return { agent, admission, welcome };
};
