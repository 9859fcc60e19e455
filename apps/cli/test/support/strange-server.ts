import type { Socket } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { createUnixListener } from "@harnesskit/transport-uds";
import { methodNotFound } from "@harnesskit/wire";
import { createPeer, type Peer } from "@harnesskit/wire/rpc";
import { onTestFinished } from "vitest";
import { makeWorkspace } from "./harness.ts";

interface Place {
  readonly cwd: string;
  readonly endpoint: string;
}

/** Something that listens on a socket and speaks as a test says, below the protocol. */
export const strangeSocket = async (greet: (socket: Socket) => void): Promise<Place> => {
  const cwd = await makeWorkspace();
  const path = join(cwd, "s.sock");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.resume();
    greet(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { cwd, endpoint: `unix:${path}` };
};

export type Answer = (params: Record<string, unknown>, peer: Peer) => unknown;

const capabilities = { threads: true, turns: true, approvals: true, streaming: true, persistence: true };
const extensions = {
  subscribe: true,
  paging: true,
  clientRequestId: true,
  grants: true,
  approvalResolved: true,
};

/** A thread as a server tells of it. */
export const strangeThread = {
  threadId: "ses_1",
  title: "T",
  directory: "/d",
  time: { created: 1, updated: 2 },
};

/** A server that answers as a test says, and otherwise that it has one thread without events. */
export const strangeServer = async (answers: Record<string, Answer> = {}): Promise<Place> => {
  const cwd = await makeWorkspace();
  const all: Record<string, Answer> = {
    initialize: () => ({ version: "1.0.0", capabilities: { ...capabilities, extensions } }),
    "thread.list": () => ({ threads: [strangeThread] }),
    "thread.unsubscribe": () => ({ ok: true }),
    "thread.subscribe": () => ({ thread: strangeThread, lastSeq: 0 }),
    ...answers,
  };
  const path = join(cwd, ".harness", "s.sock");
  const listener = createUnixListener({ path });
  await listener.listen((channel) => {
    const peer: Peer = createPeer(channel, {
      request: (method, params) => {
        const answer = all[method];
        if (!answer) throw methodNotFound(method);
        return answer((params ?? {}) as Record<string, unknown>, peer);
      },
    });
    onTestFinished(() => peer.close());
  });
  onTestFinished(() => listener.close());
  return { cwd, endpoint: `unix:${path}` };
};

/** A server that tells its log as soon as somebody follows its thread, and whatever else `more` sends. */
export const tellingServer = (
  log: readonly (readonly [type: string, data: object])[],
  { more = () => {}, answers = {}, thread = strangeThread }: TellingOptions = {},
): Promise<Place> =>
  strangeServer({
    "thread.subscribe": (_, peer) => {
      setImmediate(() => {
        const tell = (method: string, params: object) => void peer.notify(method, params).catch(() => {});
        log.forEach(([type, data], index) => {
          tell(type, { ...data, seq: index + 1, time: 1 });
        });
        more(tell);
      });
      return { thread, lastSeq: 0 };
    },
    "thread.get": ({ afterSeq, limit }) => {
      const events = log.map(([type, data], index) => ({ seq: index + 1, time: 1, type, data }));
      const after = Number(afterSeq ?? 0);
      return { thread, events: events.slice(after, after + Number(limit ?? events.length)) };
    },
    ...answers,
  });

interface TellingOptions {
  /** Sends what no log has. */
  readonly more?: (tell: (method: string, params: object) => void) => void;
  readonly answers?: Record<string, Answer>;
  readonly thread?: typeof strangeThread;
}
