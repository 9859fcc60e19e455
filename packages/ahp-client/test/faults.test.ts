import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createHttpServer, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { describe, expect, it, onTestFinished } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import type { FailureCode } from "../src/errors.ts";
import { type AhpClient, createAhpClient, type HarnessEndpoint } from "../src/index.ts";
import { ahpFailureOf, base, connected } from "./support/client.ts";
import { afterHandshake } from "./support/fake-harness.ts";
import { handshakeResult, payloads } from "./support/samples.ts";

const fixture = fileURLToPath(new URL("./fixtures/faulty-harness.mjs", import.meta.url));

/** Long where the refusal must not wait for it, short where it is what ends the wait. */
const longMs = 20_000;
const shortMs = 120;

interface Expectation {
  readonly code: FailureCode;
  /** Nothing comes that ends the wait before the deadline. */
  readonly waits?: boolean;
}

const lost: Expectation = { code: "connection_lost" };
const silent: Expectation = { code: "timeout", waits: true };
const noAnswer: Expectation = { code: "invalid_answer" };

/** What a child process may do instead of answering; what it may answer wrongly is in answers.test.ts. */
const processFaults = { kill: lost, crash: lost, close: lost, half_a_line: lost, hang: silent };

const clientOf = (endpoint: HarnessEndpoint, { waits = false }: Expectation): AhpClient => {
  const client = createAhpClient({
    ...{ ...base, ...endpoint },
    deadlines: { handshake: longMs },
    requestTimeoutMs: waits ? shortMs : longMs,
    // As long as a connection that is lost before anything was answered takes to be made anew.
    reconnect: { initialDelayMs: 0, maxDelayMs: 0, maxAttempts: Number.POSITIVE_INFINITY },
  });
  onTestFinished(() => client.close());
  return client;
};

/** The calls of a client whose harness has this fault, one after the other: each meets it. */
const expectRefused = async (client: AhpClient, { code }: Expectation) => {
  await client.connect();
  const block = {
    origin: "client",
    code,
    decision: { decision: "block", reason: expect.stringContaining(code) },
  };
  expect(await client.decide("pre_action", payloads.pre_action)).toMatchObject(block);
  expect(await client.decide("confirmation", payloads.confirmation as never)).toMatchObject({
    code,
    decision: { decision: "reject" },
  });
  expect((await client.batch([{ event_type: "pre_prompt", payload: 1 }]))[0]).toMatchObject(block);
  expect((await ahpFailureOf(client.query("t", "q"))).code).toBe(code);
  expect(client.notify("post_action", payloads.post_action)).toBe(true);
};

describe("a harness in a child process", () => {
  const transportOf = (...args: string[]) =>
    createChildTransport({
      command: process.execPath,
      args: [fixture, ...args],
      stderr: "ignore",
      closeTimeoutMs: 50,
    });

  it.each([
    [["-e", "throw new TypeError('it has no policy')"], 1, "TypeError: it has no policy"],
    [["-e", "console.error('no policy here'); process.exit(3)"], 3, "no policy here"],
  ])(
    "that ends before the handshake (%j): connect() says how, and what it wrote last",
    async (args, exit, text) => {
      const transport = createChildTransport({ command: process.execPath, args, stderr: "ignore" });
      const client = createAhpClient({ ...base, transport });
      onTestFinished(() => client.close());
      const failure = await ahpFailureOf(client.connect({ timeoutMs: longMs }));
      expect(failure.code).toBe("connection_lost");
      expect(failure.message).toContain(`ended with code ${exit} while it was in use: ${text}`);
      expect(failure.message).not.toContain("\n");
    },
  );

  it("that crashes later: the reason of a refusal says how it ended, and nothing that it wrote", async () => {
    const client = createAhpClient({ ...base, transport: transportOf("crash"), reconnect: false });
    onTestFinished(() => client.close());
    await client.connect();
    const { decision } = await client.decide("pre_action", payloads.pre_action);
    expect(decision).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("ended with code 7"),
    });
    expect(JSON.stringify(decision)).not.toContain("its last words");
  });

  it.each(Object.entries(processFaults))(
    "with the fault %s: no event is allowed",
    async (fault, expected) => {
      await expectRefused(clientOf({ transport: transportOf(fault) }, expected), expected);
    },
  );

  it.each([
    ["half_a_line", lost],
    ["hang", silent],
  ])("with the fault %s in the handshake: it fails", async (fault, { code }) => {
    const client = createAhpClient({ ...base, transport: transportOf(fault, "handshake") });
    onTestFinished(() => client.close());
    expect(
      (await ahpFailureOf(client.connect({ timeoutMs: code === "timeout" ? shortMs : longMs }))).code,
    ).toBe(code);
    expect(client.state).toBe("new");
  });

  it("that dies: the agent lives until its call is decided, though nothing else keeps it alive", async () => {
    const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));
    const script = fileURLToPath(new URL("./fixtures/last-call.mjs", import.meta.url));
    const agent = spawn(process.execPath, [script, bundle], { stdio: ["ignore", "pipe", "inherit"] });
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

it("an answer above the limit of a WebSocket ends the connection, and the reason names the limit", async () => {
  const credentials = { bearer: "a-token-for-tests-0123456789" };
  const server = createHttpServer({ token: credentials.bearer });
  const listener = server.webSocketListener({ path: "/ahp" });
  await listener.listen((channel) =>
    channel.start({
      message(message) {
        const { id, method } = message as { id: string; method: string };
        const tooMuch = { decision: "allow", metadata: { fill: "x".repeat(10_000) } };
        const result = method === "ahp/handshake" ? handshakeResult() : tooMuch;
        void channel.send({ jsonrpc: "2.0", id, result }).catch(() => {});
      },
      error() {},
      close() {},
    }),
  );
  await server.listen();
  onTestFinished(() => server.close());
  const url = `${server.webSocketUrl}/ahp`;
  const transport = createWebSocketTransport({ url, credentials, limits: { maxFrameBytes: 10_000 } });
  const client = clientOf({ transport }, noAnswer);
  await client.connect();
  expect(await client.decide("pre_action", {})).toMatchObject({
    code: "invalid_answer",
    decision: { decision: "block" },
    reason: expect.stringContaining("a message exceeds the limit of 10000 bytes"),
  });
});

it("a harness that never stops talking is closed, and the call is settled long before it is through", async () => {
  const { client, harness } = await connected(
    afterHandshake((_message, { wire }) => wire.writeRaw("y\n".repeat(500_000))),
    { reconnect: false },
  );
  expect(await client.decide("pre_action", {})).toMatchObject({ code: "invalid_answer" });
  expect(client.state).toBe("lost");
  expect(harness.connections).toHaveLength(1);
});
