import type { FileLockOwner } from "@harnesskit/node-kit";
import type { Event } from "@harnesskit/protocol/threads";
import { type Channel, systemClock } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { ModelFileSystem, type ModelFileSystemOptions } from "../../../../test-kit/model-file-system.ts";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { createThreadServer, type ThreadServer, type Tool, type TurnRunner } from "../../src/index.ts";
import { createFileThreadStore } from "../../src/node/index.ts";
import { RawClient, type Received } from "../support/raw-client.ts";
import { recordingTool } from "../support/tools.ts";

export const storeRoot = "/harness";

/** What a turn of these tests does: told by the text of its input, so that every server knows it. */
export type TurnStep =
  | { readonly say: readonly string[] }
  | { readonly tool: string; readonly command: string };

/** Something that the client sent or saw, or that a tool did, with the number of steps the disk had made by then. */
export interface Stamped<T> {
  readonly at: number;
  readonly value: T;
}

export interface SentRequest {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** Does what the input says, from where the log says that an earlier server had come. */
const scriptedRunner: TurnRunner = {
  async run(turn) {
    const [part] = turn.input;
    const steps = JSON.parse(part?.type === "text" ? part.text : "[]") as TurnStep[];
    const ofTurn = turn.history.filter((item) => item.turnId === turn.turn.turnId);
    let done = ofTurn.filter(({ type }) => type === "tool_exec").length;
    for (const step of steps) {
      if ("tool" in step) {
        if (done-- > 0) continue;
        const { tool, command } = step;
        await turn.callTool({ tool, input: { command }, callId: `call_${command}` });
      } else if (done <= 0) {
        const message = turn.message();
        for (const text of step.say) {
          message.append(text);
          await nextTurn(2);
        }
        await message.complete();
      }
      turn.signal.throwIfAborted();
    }
  },
};

const nonceIn = (content: Buffer | undefined): string | undefined =>
  content && /"nonce":"([0-9a-f-]+)"/.exec(content.toString("latin1"))?.[1];

/** One server on a disk, from its start to its end or its crash, and everything that was seen of it. */
export class Life {
  readonly fileSystem: ModelFileSystem;
  readonly server: ThreadServer;
  readonly client: RawClient;
  readonly sent: Stamped<SentRequest>[] = [];
  readonly received: Stamped<Received>[] = [];
  /** The commands that tools began to run. */
  readonly runs: Stamped<string>[] = [];
  readonly errors: unknown[] = [];

  /** @param name letters and digits: tells the ids of this life from those of others */
  constructor(name: string, options: ModelFileSystemOptions = {}) {
    this.fileSystem = new ModelFileSystem(options);
    const dead = new Set([...this.fileSystem.image.values()].map(nonceIn));
    let ids = 0;
    this.server = createThreadServer({
      runner: scriptedRunner,
      tools: this.#tools(name),
      store: createFileThreadStore({
        root: storeRoot,
        fileSystem: this.fileSystem.calls,
        isOwnerDead: ({ nonce }: FileLockOwner) => dead.has(nonce),
      }),
      limits: { maxOutputLength: 500, maxLogLength: 300 },
      // What the disk refused is tried again at once, not a second later.
      clock: { ...systemClock, after: (ms, ...rest) => systemClock.after(ms === 1000 ? 0 : ms, ...rest) },
      createId: (prefix) => `${prefix}_${name}n${++ids}`,
      onError: (error) => void this.errors.push(error),
    });
    this.client = this.connect();
  }

  /** How many steps the disk has made. */
  get now(): number {
    return this.fileSystem.journal.length;
  }

  connect(): RawClient {
    const { client, server, clientWire } = createMemoryPair();
    this.server.connect(server);
    const watched: Channel = {
      start: (handlers) =>
        client.start({
          ...handlers,
          message: (message) => {
            // Nothing leaves a process that is gone.
            if (!this.fileSystem.hasCrashed) this.received.push({ at: this.now, value: message as Received });
            handlers.message(message);
          },
        }),
      send: (message) => {
        this.sent.push({ at: this.now, value: message as unknown as SentRequest });
        return client.send(message);
      },
      close: (error) => client.close(error),
      closed: client.closed,
      signal: client.signal,
      context: client.context,
    };
    return new RawClient(watched, clientWire);
  }

  /** Starts a turn that does these steps, under a name of its own. */
  start(threadId: string, name: string, steps: readonly TurnStep[]): Promise<Received> {
    return this.client.startTurn(threadId, JSON.stringify(steps), { clientRequestId: name });
  }

  /** Answers what a turn asks, as the command says (`once-1`, `reject-1`, `always-1`), until it ends. */
  async drive(turnId: string, asked: ReadonlySet<string> = new Set()): Promise<Received> {
    const answered = new Set(asked);
    for (;;) {
      const next = await this.client.until(({ method, params }) => {
        if (params?.turnId !== turnId) return false;
        if (method === "turn.completed" || method === "turn.error") return true;
        return method === "approval.requested" && !answered.has(params.requestId);
      });
      if (next.method !== "approval.requested") return next;
      answered.add(next.params.requestId);
      await this.answer(next.params.requestId, next.params.metadata.input.command);
    }
  }

  /** The answer that the command asks for. The same under the same name in every life. */
  answer(requestId: string, command: string): Promise<Received> {
    const [decision] = command.split("-");
    return this.client.call("approval.respond", {
      requestId,
      decision,
      clientRequestId: `answer ${requestId}`,
    });
  }

  #tools(life: string): Tool[] {
    const began = (command: unknown) => {
      if (!this.fileSystem.hasCrashed) this.runs.push({ at: this.now, value: String(command) });
    };
    return [
      recordingTool("bash", "execute", async ({ command }) => {
        began(command);
        await nextTurn(3);
        return { ok: true };
      }),
      recordingTool("read", "read", async ({ command }) => {
        began(command);
        return { text: "content" };
      }),
      recordingTool("big", "read", async ({ command }, { stdout, stderr }) => {
        began(command);
        for (let part = 0; part < 4; part++) {
          void stdout(`${"o".repeat(120)}\n`);
          void stderr("e\n");
          await nextTurn(1);
        }
        return { text: "ü".repeat(2000) };
      }),
      // Hangs in the life that began the thread, until it is told to stop.
      recordingTool("hang", "read", ({ command }, { signal, stdout }) => {
        began(command);
        void stdout("waiting");
        if (life !== "A") return Promise.resolve({ ok: true });
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      }),
    ];
  }
}

/** What is known of a life that has ended: the most that a client had seen by then. */
export interface Evidence {
  readonly replies: readonly {
    readonly method: string;
    readonly params: Record<string, unknown>;
    readonly reply?: Received;
  }[];
  /** The notifications with a number, as events of the log, in the order of their arrival. */
  readonly events: readonly Event[];
  readonly runs: readonly string[];
}

/** What had been sent and seen of a life when its disk had made so many steps. */
export const evidenceOf = (life: Life, steps: number): Evidence => {
  const until = <T>(all: readonly Stamped<T>[]): T[] =>
    all.flatMap(({ at, value }) => (at <= steps ? [value] : []));
  const received = until(life.received);
  const byId = new Map(
    received.flatMap((message) => (message.method ? [] : [[message.id, message] as const])),
  );
  const replies = until(life.sent).map(({ id, method, params }) => {
    const reply = byId.get(id);
    return { method, params, ...(reply && { reply }) };
  });
  const events = received.flatMap(({ method, params }) => {
    if (method === undefined || params.seq === undefined) return [];
    const { seq, time, ...data } = params;
    return [{ seq, time, type: method, data } as Event];
  });
  return { replies, events, runs: until(life.runs) };
};
