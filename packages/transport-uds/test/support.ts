import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { link } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Channel, Transport } from "@harnesskit/wire";
import { expect } from "vitest";
import { record } from "../../../test-kit/test-kit.ts";
import type { UnixListener } from "../src/index.ts";

/** An accept callback that sends everything back. */
export const echo = (channel: Channel): void =>
  channel.start({
    message: (message) => channel.send(message).catch(() => {}),
    error: () => {},
    close: () => {},
  });

/** Sends one message and gives the answer. */
export const ask = async (transport: Transport, message: unknown): Promise<unknown> => {
  const channel = await transport.connect();
  const log = record(channel);
  await channel.send(message);
  await log.untilMessages(1);
  await channel.close();
  return log.messages[0];
};

/** Closes the listener after the scope. */
export const closing = (listener: UnixListener) => ({
  [Symbol.asyncDispose]: () => listener.close(),
});

/** A plain server of Node's, without a harness. */
export const plainServer = async (path: string, onSocket: (socket: Socket) => void = () => {}) => {
  const server: Server = createServer({ allowHalfOpen: true }, onSocket);
  server.listen(path);
  await once(server, "listening");
  return server;
};

/** Leaves a socket at the path whose server is gone. */
export const leaveStaleSocket = async (path: string): Promise<void> => {
  const server = await plainServer(`${path}.x`);
  await link(`${path}.x`, path);
  server.close();
  await once(server, "close");
};

/** A connected socket without a codec. */
export const rawSocket = async (path: string): Promise<Socket> => {
  const socket = connect({ path, allowHalfOpen: true });
  await once(socket, "connect");
  socket.on("error", () => {});
  return socket;
};

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

/** A process that tells lines of JSON and is told lines; killed after the scope. */
export const startProcess = (name: string, args: readonly string[]) => {
  const child: ChildProcess = spawn(process.execPath, [fixture(name), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout || child.pid === undefined) expect.fail("the fixture has no streams");
  const exit = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid,
    exit,
    /** The next line that it tells. */
    async next(): Promise<unknown> {
      const { value, done } = await lines.next();
      if (done) expect.fail(`${name} ended without telling more`);
      return JSON.parse(value) as unknown;
    },
    tell: (line: string) => void stdin.write(`${line}\n`),
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
};

/** The socket below a client's channel, for what a test does without the channel. */
export const connectWithSocket = async <Context>(transport: Transport<Context>) => {
  let socket: Socket | undefined;
  const note = (message: unknown) => {
    socket = (message as { socket: Socket }).socket;
  };
  subscribe("net.client.socket", note);
  try {
    // The socket is made before `connect` returns.
    const connecting = transport.connect();
    if (!socket) expect.fail("no socket was made");
    return { channel: await connecting, socket };
  } finally {
    unsubscribe("net.client.socket", note);
  }
};
