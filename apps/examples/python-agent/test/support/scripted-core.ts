import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentMessageType, agentMessages } from "@harnesskit/protocol/runtime";

export interface Message {
  readonly v: number;
  readonly type: string;
  readonly id: string;
  readonly ts: string;
  readonly payload: Record<string, unknown>;
  readonly [field: string]: unknown;
}

/** A frame: the length of the bytes and the bytes. */
export const frameOf = (body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body as string);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
};

export const messageOf = (type: string, payload: object = {}, more: object = {}): Message =>
  ({ v: 1, type, id: randomUUID(), ts: new Date().toISOString(), payload, ...more }) as Message;

export const toFrame = (message: object): Buffer => frameOf(JSON.stringify(message));

/** What a test plays on one connection of an agent. */
export class Connection {
  /** All that came, in its order. */
  readonly received: Message[] = [];
  readonly closed: Promise<unknown>;
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #waiting: (() => void)[] = [];
  #taken = new Set<Message>();
  #isClosed = false;
  #unfit: Error | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, "close").then(() => {
      this.#isClosed = true;
      this.#wake();
    });
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => this.#read(bytes));
  }

  write(...messages: object[]): void {
    this.socket.write(Buffer.concat(messages.map(toFrame)));
  }

  /**
   * The first message of a type, with these fields in its payload, that was not taken before. Rejects when the agent
   * closes before, or has said anything that is no message of the protocol.
   */
  async next(type: AgentMessageType, payload: Record<string, unknown> = {}): Promise<Message> {
    for (;;) {
      if (this.#unfit) throw this.#unfit;
      const found = this.received.find(
        (message) =>
          message.type === type &&
          !this.#taken.has(message) &&
          Object.entries(payload).every(([key, value]) => message.payload[key] === value),
      );
      if (found) {
        this.#taken.add(found);
        return found;
      }
      if (this.#isClosed)
        throw new Error(`the agent closed before ${type}: ${JSON.stringify(this.received)}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits until the agent has handled all that was sent before. */
  async handled(): Promise<void> {
    const ping = messageOf("core.ping");
    this.write(ping);
    while ((await this.next("agent.pong")).in_reply_to !== ping.id);
  }

  /** Lets the agent in, and takes its tools. */
  async welcome(fields: object = {}): Promise<{ hello: Message; register: Message }> {
    const hello = await this.next("agent.hello");
    this.write(messageOf("core.welcome", { ...welcomePayload, ...fields }, { in_reply_to: hello.id }));
    const register = await this.next("agent.tools.register");
    const registered = (register.payload.tools as { tool_id: string }[]).map(({ tool_id }) => tool_id);
    this.write(messageOf("core.tools.registered", { registered }, { in_reply_to: register.id }));
    return { hello, register };
  }

  #read(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= 4 && this.#bytes.length >= 4 + this.#bytes.readUInt32BE()) {
      const end = 4 + this.#bytes.readUInt32BE();
      this.#take(JSON.parse(this.#bytes.subarray(4, end).toString("utf8")) as Message);
      this.#bytes = this.#bytes.subarray(end);
    }
    this.#wake();
  }

  #take(message: Message): void {
    this.received.push(message);
    this.#unfit ??= agentMessages[message.type as AgentMessageType].safeParse(message).error;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const welcomePayload = {
  accepted_version: 1,
  session_id: "session-1",
  heartbeat_interval_ms: 5000,
  max_frame_bytes: 4_194_304,
  server: { core_version: "1.0.0", instance_id: "scripted" },
};

/** A socket on which a test plays the core. */
export class ScriptedCore {
  readonly socketPath: string;
  readonly #directory: string;
  readonly #server: Server;
  readonly #connections: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.socketPath = join(directory, "core.sock");
    this.#server = createServer((socket) => {
      const connection = new Connection(socket);
      const taker = this.#waiting.shift();
      if (taker) taker(connection);
      else this.#connections.push(connection);
    });
  }

  static async listen(): Promise<ScriptedCore> {
    const core = new ScriptedCore(await mkdtemp(join(tmpdir(), "hk-python-agent-")));
    core.#server.listen(core.socketPath);
    await once(core.#server, "listening");
    return core;
  }

  /** The next connection that an agent makes. */
  async accept(): Promise<Connection> {
    return this.#connections.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
