import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";
import {
  createShellEngine,
  type ShellCall,
  type ShellEngineOptions,
  shellHeaders,
} from "@harnesskit/shell-engine";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createDeferred } from "@harnesskit/wire";
import { onTestFinished } from "vitest";
import { createShellClient, type ShellClientOptions, type ShellStreamEvent } from "../src/index.ts";
import { say } from "./support.ts";

export const token = "a-token-of-this-test";

/** An engine with streams, and how often its handler began. */
export const streamingEngine = (
  intent: (call: ShellCall) => unknown,
  options: Partial<ShellEngineOptions> = {},
) => {
  const calls: ShellCall[] = [];
  const engine = createShellEngine({
    handlers: {
      intent: ((call: ShellCall) => {
        calls.push(call);
        return intent(call);
      }) as () => undefined,
    },
    capabilities: { "openharness.streaming": true },
    ...options,
  });
  return { engine, calls };
};

/** A handler that is led by the test. */
export const led = () => {
  const began = createDeferred<ShellCall>();
  const end = createDeferred<void>();
  const intent = async (call: ShellCall) => {
    began.resolve(call);
    await end.promise;
    return [say("the answer")];
  };
  return { intent, began: began.promise, end: () => end.resolve() };
};

/** Serves an engine over HTTP and WebSocket behind a proxy whose connections can be cut. */
export const serve = async (engine: ReturnType<typeof streamingEngine>["engine"]) => {
  const server = createHttpServer<unknown>({
    token,
    routes: { "/openharness": engine },
    allowedHosts: ["127.0.0.1"],
    contextHeaders: shellHeaders,
  });
  const sockets = server.webSocketListener({ path: "/openharness" });
  await sockets.listen((channel) => engine.connect(channel));
  await server.listen();
  const open = new Set<Socket>();
  let connections = 0;
  let isBlocked = false;
  const proxy = createServer((client) => {
    if (isBlocked) {
      client.resetAndDestroy();
      return;
    }
    connections++;
    const upstream = connectTo(server.port ?? 0, "127.0.0.1");
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  onTestFinished(async () => {
    cut();
    proxy.close();
    await engine.close();
    await server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/openharness`,
    webSocketUrl: `ws://127.0.0.1:${port}/openharness`,
    cut,
    /** Whether new connections are closed at once. */
    block: (blocks: boolean) => {
      isBlocked = blocks;
    },
    connections: () => connections,
    inFlight: () => server.inFlight,
  };
};

/** A shell that shows messages, with all that it was told of streams. */
export const streamingShell = ({
  reads = true,
  ...options
}: Pick<ShellClientOptions, "engine"> & Partial<ShellClientOptions> & { readonly reads?: boolean }) => {
  const events: ShellStreamEvent[] = [];
  const shown: unknown[] = [];
  const shell = createShellClient({
    executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
    retry: { initialDelayMs: 1 },
    ...(reads && { onStream: (event) => events.push(event) }),
    ...options,
  });
  onTestFinished(() => shell.close());
  const text = () => events.map((event) => (event.type === "text" ? event.delta : "")).join("");
  const types = () => events.map(({ type }) => type);
  return { shell, events, shown, text, types };
};
