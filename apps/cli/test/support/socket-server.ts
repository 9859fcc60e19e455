import { join } from "node:path";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { createPeer, type Peer } from "@harnesskit/wire/rpc";
import { onTestFinished, vi } from "vitest";
import { makeWorkspace, type Running, type Start, startProcess } from "./harness.ts";
import { startHarness } from "./in-process.ts";
import { ProtocolClient } from "./protocol-client.ts";

export interface SocketServer {
  readonly cwd: string;
  readonly endpoint: string;
  readonly program: Running;
}

/** `harness serve --listen` as a service, ready to be connected to. */
export const serveSocket = async (given?: string, start: Start = startHarness): Promise<SocketServer> => {
  const cwd = given ?? (await makeWorkspace());
  const endpoint = `unix:${join(cwd, ".harness", "s.sock")}`;
  const program = start(["serve", "--no-policy", "--listen", endpoint], { cwd, isService: true });
  await program.reports(/listening on/);
  return { cwd, endpoint, program };
};

/** The same in a process of its own, which can be killed. */
export const serveProcess = (cwd?: string): Promise<SocketServer> => serveSocket(cwd, startProcess);

interface Notification {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** A client on the socket that answers nothing by itself. */
export class SocketClient {
  readonly notifications: Notification[] = [];

  private constructor(readonly peer: Peer) {}

  static async connect({ endpoint }: SocketServer, name = "test"): Promise<SocketClient> {
    const channel = await createUnixTransport({ path: endpoint.slice("unix:".length) }).connect();
    const peer = createPeer(channel, {
      notification: (method, params) => {
        client.notifications.push({ method, params: params as Record<string, unknown> });
      },
    });
    const client: SocketClient = new SocketClient(peer);
    onTestFinished(() => peer.close());
    await peer.request("initialize", { clientInfo: { name } });
    return client;
  }

  async createThread(title = "Test"): Promise<string> {
    const { thread } = (await this.peer.request("thread.create", { title })) as {
      thread: { threadId: string };
    };
    return thread.threadId;
  }

  async startTurn(threadId: string, text: string): Promise<string> {
    const params = { threadId, input: [{ type: "text", text }] };
    return ((await this.peer.request("turn.start", params)) as { turnId: string }).turnId;
  }

  async notified(method: string): Promise<Notification> {
    return vi.waitFor(
      () => {
        const found = this.notifications.find((notification) => notification.method === method);
        if (!found) throw new RangeError(`no ${method} yet`);
        return found;
      },
      { timeout: 15_000, interval: 20 },
    );
  }

  async waitingApproval(threadId: string, text: string): Promise<string> {
    await this.startTurn(threadId, text);
    return (await this.notified("approval.requested")).params.requestId as string;
  }
}

/** Kills a server as `kill -9` does, and waits until it is gone. */
export const killServer = async ({ program }: SocketServer): Promise<void> => {
  program.kill("SIGKILL");
  await program.ended;
};

/** A server with a thread whose turn waits, and the client that started it. */
export const waitingThread = async (command = "echo ran >> ran.txt", start: Start = startHarness) => {
  const server = await serveSocket(undefined, start);
  const client = await SocketClient.connect(server, "starter");
  const threadId = await client.createThread("The task");
  const requestId = await client.waitingApproval(threadId, `run the command: ${command}`);
  return { server, client, threadId, requestId, cwd: server.cwd };
};

/** The same, of a server that can be killed. */
export const waitingInProcess = (command?: string) => waitingThread(command, startProcess);

/** A thread whose turn waits, left by a server whose input has ended. */
export const leftWaiting = async (command: string): Promise<{ cwd: string; threadId: string }> => {
  const cwd = await makeWorkspace();
  const client = new ProtocolClient(startHarness(["serve", "--no-policy"], { cwd }));
  const threadId = await client.createThread();
  await client.startTurn(threadId, `run the command: ${command}`);
  await client.notified("approval.requested");
  client.program.endInput();
  await client.program.ended;
  return { cwd, threadId };
};
