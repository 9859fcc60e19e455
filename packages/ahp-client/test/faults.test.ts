import { fileURLToPath } from "node:url";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import type { Transport } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AhpClient, type AhpFailure, createAhpClient, type FailureCode } from "../src/index.ts";
import { ahpFailureOf, base } from "./support/client.ts";
import { type HttpFault, startFaultyHttp } from "./support/faulty-http.ts";
import { blockingTypes, notificationTypes, payloads, refusals } from "./support/samples.ts";

const fixture = fileURLToPath(new URL("./fixtures/faulty-harness.mjs", import.meta.url));

/** Long where the refusal must not wait for it, short where it is what ends the wait. */
const longMs = 20_000;
const shortMs = 120;
/** What is no answer has to have arrived before the wait is over, from a process that may be slow. */
const noiseMs = 1500;

interface Expectation {
  readonly code: FailureCode;
  /** Nothing comes that ends the wait before the deadline. */
  readonly waits?: boolean;
}

const lost: Expectation = { code: "connection_lost" };
const silent: Expectation = { code: "timeout", waits: true };
const noAnswer: Expectation = { code: "invalid_answer" };
const noise: Expectation = { ...noAnswer, waits: true };

/** What a child process may do instead of answering; what it may answer wrongly is in answers.test.ts. */
const processFaults: Readonly<Record<string, Expectation>> = {
  kill: lost,
  exit: lost,
  crash: lost,
  close: lost,
  half_a_line: lost,
  hang: silent,
  slow: silent,
  garbage: noise,
  too_large: noise,
};

/** What an HTTP server may do instead of answering; what it may answer wrongly is in exchange.test.ts. */
const httpFaults: Readonly<Record<HttpFault, Expectation>> = {
  break_off: lost,
  half_a_body: lost,
  hang: silent,
  slow: silent,
  slow_body: silent,
  garbage: noAnswer,
  no_http: noAnswer,
  no_json_type: noAnswer,
  no_content: noAnswer,
  too_large: noAnswer,
  status_401: { code: "unauthorized" },
  status_403: { code: "unauthorized" },
  status_404: noAnswer,
  status_500: { code: "harness_error" },
  status_503: { code: "overloaded" },
  redirect: noAnswer,
};

/** What was found, for the sum at the end. */
const found = { refusingDecisions: 0, typedErrors: 0, receipts: 0, places: new Set<string>() };

const place = (what: string, fault: string, name: string) => found.places.add(`${what} ${fault} ${name}`);

const expectReason = (error: AhpFailure, code: FailureCode) => {
  expect(error).toMatchObject({ name: "AhpFailure", code });
  expect(error.message.length).toBeGreaterThan(5);
};

/** Every call of a client whose harness has this fault. They settle by themselves, or the test does not end. */
const callAll = async (client: AhpClient, what: string, fault: string, expected: Expectation) => {
  const { code } = expected;
  // One after the other where a fault ends the connection, so that each event type meets it.
  const isLoss = code === "connection_lost" || code === "unreachable";
  const runAll = async (runs: (() => Promise<void>)[]) => {
    if (isLoss) for (const run of runs) await run();
    else await Promise.all(runs.map((run) => run()));
  };
  await runAll([
    ...blockingTypes.map((type) => async () => {
      const verdict = await client.decide(type, payloads[type] as never);
      expect(verdict, `${fault} at ${type}`).toMatchObject({ origin: "client", code, failedOpen: false });
      const { reason, error, decision } = verdict as Extract<typeof verdict, { origin: "client" }>;
      expect(decision).toEqual({ decision: refusals[type], reason });
      expect(reason).toContain(code);
      expectReason(error, code);
      place(what, fault, type);
      found.refusingDecisions++;
    }),
    async () => {
      const verdicts = await client.batch([
        { event_type: "pre_action", payload: 1 },
        { event_type: "post_action", payload: 2 },
        { event_type: "pre_prompt", payload: 3 },
      ]);
      expect(verdicts).toHaveLength(3);
      for (const verdict of verdicts) {
        expect(verdict, `${fault} at a batch`).toMatchObject({
          code,
          decision: { decision: "block" },
        });
        found.refusingDecisions++;
      }
      place(what, fault, "batch");
    },
    async () => {
      expectReason(await ahpFailureOf(client.query("t", "q")), code);
      place(what, fault, "query");
      found.typedErrors++;
    },
  ]);
  for (const type of notificationTypes) {
    expect(client.notify(type, payloads[type] as never).decision).toEqual({ decision: "allow" });
    place(what, fault, type);
    found.receipts++;
  }
  expect(client.stats()).toMatchObject({ inFlight: 0 });
};

/** As long as a connection that is lost before anything was answered takes to be made anew. */
const patient = { initialDelayMs: 0, maxDelayMs: 0, maxAttempts: Number.POSITIVE_INFINITY };

const timeoutOf = ({ waits = false, code }: Expectation) => {
  if (!waits) return longMs;
  return code === silent.code ? shortMs : noiseMs;
};

describe("a harness in a child process that", () => {
  const transportOf = (...args: string[]) =>
    createChildTransport({
      command: process.execPath,
      args: [fixture, ...args],
      maxFrameBytes: 100_000,
      stderr: "ignore",
      closeTimeoutMs: 50,
    });

  it.each([
    [["./missing-harness.mjs"], 1, "Error: Cannot find module"],
    [["-e", "throw new TypeError('it has no policy')"], 1, "TypeError: it has no policy"],
    [["-e", "console.error('no policy here'); process.exit(3)"], 3, "no policy here"],
  ])(
    "ends before the handshake (%j): connect() says how, and what it wrote last",
    async (args, exit, text) => {
      const transport = createChildTransport({ command: process.execPath, args, stderr: "ignore" });
      const client = createAhpClient({ ...base, transport });
      onTestFinished(() => client.close());
      const failure = await ahpFailureOf(client.connect({ timeoutMs: longMs }));
      expectReason(failure, "connection_lost");
      expect(failure.message).toContain(`ended with code ${exit} while it was in use: ${text}`);
      expect(failure.message).not.toContain("\n");
    },
  );

  it("is gone before the first message: no harness is there", async () => {
    const child = createChildTransport({ command: process.execPath, args: ["-e", "process.exit(3)"] });
    const transport: Transport = {
      async connect(options) {
        const channel = await child.connect(options);
        await channel.context.exit;
        return channel;
      },
    };
    const client = createAhpClient({ ...base, transport });
    onTestFinished(() => client.close());
    expectReason(await ahpFailureOf(client.connect({ timeoutMs: longMs })), "connection_lost");
  });

  it("crashes later: the reason of a refusal says how it ended, and nothing that it wrote", async () => {
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
    "has the fault %s: no event is allowed",
    async (fault, expected) => {
      const client = createAhpClient({
        ...base,
        transport: transportOf(fault),
        deadlines: { handshake: longMs },
        requestTimeoutMs: timeoutOf(expected),
        reconnect: patient,
      });
      onTestFinished(() => client.close());
      await client.connect();
      await callAll(client, "process", fault, expected);
    },
    60_000,
  );

  it.each(Object.entries(processFaults))(
    "has the fault %s in the handshake: it fails",
    async (fault, expected) => {
      const { code } = expected;
      const client = createAhpClient({ ...base, transport: transportOf(fault, "handshake") });
      onTestFinished(() => client.close());
      // The process has to be up before its noise can be heard.
      const timeoutMs = expected === noise ? 3000 : timeoutOf(expected);
      expectReason(await ahpFailureOf(client.connect({ timeoutMs })), code);
      expect(client.state).toBe("new");
      place("process", fault, "handshake");
      found.typedErrors++;
    },
  );
});

describe("a harness behind HTTP that", () => {
  it.each(Object.entries(httpFaults))("has the fault %s: no event is allowed", async (fault, expected) => {
    const server = await startFaultyHttp(fault as HttpFault, "events");
    const exchange = createHttpExchange({ url: server.url, limits: { maxMessageBytes: 100_000 } });
    const client = createAhpClient({
      ...base,
      exchange,
      deadlines: { handshake: longMs },
      requestTimeoutMs: timeoutOf(expected),
      reconnect: patient,
    });
    onTestFinished(async () => {
      await client.close();
      exchange.close();
      await server.close();
    });
    await client.connect();
    await callAll(client, "http", fault, expected);
  });

  it.each(Object.entries(httpFaults))(
    "has the fault %s in the handshake: it fails",
    async (fault, expected) => {
      const { code } = expected;
      const server = await startFaultyHttp(fault as HttpFault, "handshake");
      const exchange = createHttpExchange({ url: server.url, limits: { maxMessageBytes: 100_000 } });
      const client = createAhpClient({ ...base, exchange });
      onTestFinished(async () => {
        await client.close();
        exchange.close();
        await server.close();
      });
      expectReason(await ahpFailureOf(client.connect({ timeoutMs: timeoutOf(expected) })), code);
      expect(client.state).toBe("new");
      place("http", fault, "handshake");
      found.typedErrors++;
    },
  );
});

describe("all of these faults", () => {
  it("were met at each event type, the query, the batch and the handshake", () => {
    const faults = Object.keys(processFaults).length + Object.keys(httpFaults).length;
    const places = blockingTypes.length + notificationTypes.length + 3;
    expect([faults, places]).toEqual([25, 23]);
    expect(found).toMatchObject({
      refusingDecisions: faults * (blockingTypes.length + 3),
      typedErrors: faults * 2,
      receipts: faults * notificationTypes.length,
    });
    expect(found.places.size).toBe(faults * places);
  });
});
