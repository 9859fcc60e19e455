import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAhpServer } from "@harnesskit/ahp-server";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildSourceBundle } from "../../../scripts/lib/source-bundle.ts";
import { type AhpClientOptions, createAhpClient } from "../src/index.ts";
import { base, poll } from "./support/client.ts";
import { handshakeResult } from "./support/samples.ts";

/** A harness written by hand, on a Unix socket: shakes hands, and answers all else as the test says. */
const rawHarness = async (answer: (socket: Socket, id: string, server: Server) => void) => {
  const directory = await mkdtemp(join(tmpdir(), "ahp-raw-"));
  const path = join(directory, "harness.sock");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
        const { id, method } = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (method === "ahp/handshake") {
          socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: handshakeResult() })}\n`);
        } else answer(socket, id, server);
      }
    });
  }).listen(path);
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(directory, { recursive: true, force: true });
  });
  return path;
};

const opened = async (path: string, options: Partial<AhpClientOptions> = {}) => {
  const told: unknown[] = [];
  const client = createAhpClient({
    ...base,
    transport: createUnixTransport({ path, framing: "newline" }),
    reconnect: false,
    failOpen: { pre_action: { decision: "allow" } },
    onFailOpen: (opening) => told.push(opening),
    ...options,
  } as AhpClientOptions);
  onTestFinished(() => client.close());
  await client.connect();
  return { client, told };
};

const action = { tool_name: "bash", arguments: { command: "true" } };
const json = (value: unknown) => `${JSON.stringify(value)}\n`;
const block = { decision: "block", reason: "no" };

describe("a harness that is there and says nothing usable is never taken for an absent one", () => {
  it.each<[string, (id: string) => string, string]>([
    ["a line that is no JSON", () => "harness starting…\n", "invalid_answer"],
    ["an answer under another id", () => json({ jsonrpc: "2.0", id: "zz", result: block }), "invalid_answer"],
    ["an array", (id) => json([{ jsonrpc: "2.0", id, result: block }]), "invalid_answer"],
    ["a line over the limit", (id) => json({ id, result: "x".repeat(5_000_000) }), "invalid_answer"],
    [
      "an error that names no request",
      () => json({ jsonrpc: "2.0", id: "", error: { code: -32600, message: "too deep" } }),
      "harness_error",
    ],
  ])("where it sends %s", async (_what, line, code) => {
    const path = await rawHarness((socket, id) => void socket.write(line(id)));
    const { client, told } = await opened(path);
    const verdict = await client.decide("pre_action", action, { timeoutMs: 300 });
    expect(verdict).toMatchObject({ origin: "client", code, failedOpen: false });
    expect(verdict.decision).toMatchObject({ decision: "block" });
    expect(told).toEqual([]);
  });

  it("where it sends nonsense and goes away", async () => {
    const path = await rawHarness((socket) => void socket.end("nonsense\n"));
    const { client } = await opened(path);
    const verdict = await client.decide("pre_action", action);
    expect(verdict).toMatchObject({ code: "invalid_answer", failedOpen: false });
  });

  it("where it refuses the next handshake", async () => {
    let refuses = false;
    const harness = createAhpServer({ name: "h", version: "1.0.0", handlers: {} });
    const directory = await mkdtemp(join(tmpdir(), "ahp-again-"));
    const path = join(directory, "h.sock");
    const listener = createUnixListener({ path, framing: "newline" });
    await listener.listen((channel) => {
      if (!refuses) return harness.connect(channel);
      channel.start({
        message: (message) => {
          const { id } = message as { id: string };
          const error = { code: -32000, message: "Unsupported protocol version" };
          void channel.send({ jsonrpc: "2.0", id, error }).catch(() => {});
        },
        error() {},
        close() {},
      });
      return undefined;
    });
    onTestFinished(async () => {
      await harness.close();
      await listener.close();
      await rm(directory, { recursive: true, force: true });
    });
    const { client, told } = await opened(path, { reconnect: { maxAttempts: 1, initialDelayMs: 1 } });
    refuses = true;
    await harness.close();
    await poll(() => client.state).toBe("lost");
    const verdict = await client.decide("pre_action", action);
    expect(verdict).toMatchObject({ code: "version_mismatch", failedOpen: false });
    expect(told).toEqual([]);
  });

  it("but one that was only late is", async () => {
    const late: (() => void)[] = [];
    const path = await rawHarness((socket, id) =>
      late.push(() => socket.write(json({ jsonrpc: "2.0", id, result: block }))),
    );
    const { client, told } = await opened(path);
    expect(await client.decide("pre_action", action, { timeoutMs: 20 })).toMatchObject({ code: "timeout" });
    const second = client.decide("pre_action", action, { timeoutMs: 200 });
    await poll(() => late.length).toBe(2);
    late[0]?.();
    expect(await second).toMatchObject({ code: "timeout", failedOpen: true });
    expect(told).toHaveLength(2);
  });
});

describe("what is nested too deeply", () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

  it("is refused at once and not sent, and an answer that is becomes an error", async () => {
    const harness = createAhpServer({
      name: "h",
      version: "1.0.0",
      handlers: {
        pre_action: () => ({
          decision: "block",
          reason: "deep",
          metadata: { deep: nested(80) as JsonValue },
        }),
      },
    });
    const directory = await mkdtemp(join(tmpdir(), "ahp-deep-"));
    const path = join(directory, "h.sock");
    const listener = createUnixListener({ path, framing: "newline" });
    await listener.listen((channel) => harness.connect(channel));
    onTestFinished(async () => {
      await harness.close();
      await listener.close();
      await rm(directory, { recursive: true, force: true });
    });
    const { client } = await opened(path);
    const deep = await client.decide("pre_action", { tool_name: "x", arguments: nested(79) as never });
    expect(deep).toMatchObject({ code: "unsendable", failedOpen: false });
    const answered = await client.decide("pre_action", action);
    expect(answered).toMatchObject({ code: "harness_error", failedOpen: false });
    expect(answered.origin === "client" && answered.error).toMatchObject({ rpcCode: -32603 });
    expect(harness.stats()).toMatchObject({ requests: 2 });
  });
});

describe("a harness that never stops talking", () => {
  it.each([
    ["lines that are no JSON", "y\n"],
    ["lines that are no JSON-RPC", "{}\n"],
  ])("in %s is closed, and the call is settled long before it is through", async (_what, line) => {
    let written = 0;
    const megabyte = line.repeat(1_000_000 / line.length);
    const path = await rawHarness((socket) => {
      const more = () => {
        if (socket.destroyed) return;
        written++;
        socket.write(megabyte, more);
      };
      more();
    });
    const { client } = await opened(path);
    const verdict = await client.decide("pre_action", action, { timeoutMs: 60_000 });
    expect(verdict).toMatchObject({ code: "invalid_answer", failedOpen: false });
    expect(client.state).toBe("lost");
    expect(written).toBeLessThan(10);
  });
});

describe("an agent whose harness dies", () => {
  it("lives until its call is decided, though nothing else keeps it alive", async () => {
    const bundle = await buildSourceBundle(new URL("./bundle-entry.ts", import.meta.url));
    onTestFinished(() => bundle.remove());
    const script = fileURLToPath(new URL("./fixtures/last-call.mjs", import.meta.url));
    const agent = spawn(process.execPath, [script, bundle.path], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    agent.stdout.on("data", (chunk) => {
      said += chunk;
    });
    const [code] = await once(agent, "close");
    expect({ code, said }).toEqual({
      code: 7,
      said: expect.stringMatching(/^block (?:unreachable|connection_lost|timeout)\n$/),
    });
  });
});
