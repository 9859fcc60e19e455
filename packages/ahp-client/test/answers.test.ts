import { ahpEvents } from "@harnesskit/protocol/ahp";
import { createManualClock } from "@harnesskit/wire/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { type AhpClient, AhpFailure } from "../src/index.ts";
import { refusingDecision } from "../src/judge.ts";
import { ahpFailureOf, connected, poll } from "./support/client.ts";
import { afterHandshake, type Connection, type Message } from "./support/fake-harness.ts";
import { agreements, blockingTypes, payloads, refusals } from "./support/samples.ts";

type Answer = (message: Message, connection: Connection) => void;

const ask = (client: AhpClient, type: (typeof blockingTypes)[number], options = {}): Promise<any> =>
  client.decide(type, payloads[type] as never, options);

/** What every call of the client comes to when the harness answers so. */
const judgedWith = async (answer: Answer, options = {}) => {
  const { harness, client } = await connected(afterHandshake(answer), options);
  const verdicts = await Promise.all(blockingTypes.map((type) => ask(client, type)));
  const batch = await client.batch([
    { event_type: "pre_action", payload: 1 },
    { event_type: "post_action", payload: 2 },
  ]);
  const query = await ahpFailureOf(client.query("t", "q"));
  return { harness, client, verdicts, batch, query };
};

const expectRefused = (verdict: any, type: keyof typeof refusals, code: string) => {
  expect(verdict).toEqual({
    origin: "client",
    decision: { decision: refusals[type], reason: verdict.reason },
    code,
    reason: expect.stringContaining(`The harness gave no decision (${code}): `),
    failedOpen: false,
    error: expect.any(AhpFailure),
  });
  expect(verdict.error.code).toBe(code);
  expect(ahpEvents[type].decision.safeParse(verdict.decision).success).toBe(true);
};

const expectAllRefused = (
  { verdicts, batch, query }: Awaited<ReturnType<typeof judgedWith>>,
  code: string,
  queryCode = code,
) => {
  verdicts.forEach((verdict, index) => {
    expectRefused(verdict, blockingTypes[index] as never, code);
  });
  expect(batch).toHaveLength(2);
  expect(query.code).toBe(queryCode);
};

describe("an answer that cannot be used", () => {
  it.each(["1.0", 2, null, undefined])("has jsonrpc %j: every call is refused at once", async (jsonrpc) => {
    const judged = await judgedWith((message, { write }) =>
      write({ jsonrpc, id: message.id, result: { decision: "allow", answer: 1 } }),
    );
    expectAllRefused(judged, "invalid_answer");
    for (const verdict of judged.batch) expectRefused(verdict, "pre_action", "invalid_answer");
    expect(judged.client.state).toBe("ready");
  });

  it("has another id: it settles no call, and is counted and told", async () => {
    const clock = createManualClock();
    const told: string[] = [];
    const { harness, client } = await connected(
      afterHandshake((message, { write }) => {
        for (const id of [`${message.id}0`, "", null, 0, Number(message.id)]) {
          write({ jsonrpc: "2.0", id, result: { decision: "allow" } });
        }
      }),
      { clock, onError: ({ code }) => told.push(code) },
    );
    const verdict = ask(client, "pre_action");
    await poll(() => client.stats().droppedMessages).toBe(5);
    expect(client.stats().inFlight).toBe(1);
    clock.advance(9_999);
    expect(client.stats().inFlight).toBe(1);
    clock.advance(1);
    expectRefused(await verdict, "pre_action", "invalid_answer");
    expect(told).toEqual(Array(5).fill("invalid_message"));
    // What comes after the deadline settles nothing either.
    const [, message] = harness.received;
    if (message) harness.last.reply(message, { decision: "allow" });
    await poll(() => client.stats().droppedMessages).toBe(6);
  });

  it("is an error: its code and message reach the caller", async () => {
    const judged = await judgedWith((message, connection) =>
      connection.fail(message, -32603, "Handler error: \u202edown", { reason: "handler_failed" }),
    );
    expectAllRefused(judged, "harness_error");
    for (const verdict of judged.batch) expectRefused(verdict, "pre_action", "harness_error");
    for (const error of [judged.query, ...judged.verdicts.map((verdict) => verdict.error)]) {
      expect(error).toMatchObject({ rpcCode: -32603, rpcMessage: "Handler error: \u202edown" });
      expect(error.message).not.toContain("\u202e");
    }
    expect(judged.client.state).toBe("ready");
  });

  it("has no result, or has an error beside it, or an error that is none", async () => {
    for (const fields of [
      {},
      { result: { decision: "allow" }, error: { code: 1, message: "m" } },
      { error: "no" },
      { error: null },
      { error: { code: "1", message: "m" } },
    ]) {
      const judged = await judgedWith((message, { write }) =>
        write({ jsonrpc: "2.0", id: message.id, ...fields }),
      );
      expectAllRefused(judged, "invalid_answer");
      for (const verdict of judged.batch) expectRefused(verdict, "pre_action", "invalid_answer");
    }
  });

  it("is no decision of the event's type, though it may be one of another", async () => {
    const own = (message: Message) => message.params.event_type as keyof typeof agreements;
    const judged = await judgedWith((message, connection) =>
      connection.reply(
        message,
        own(message) === "confirmation" ? agreements.pre_action : agreements.confirmation,
      ),
    );
    expectAllRefused(judged, "invalid_decision", "invalid_answer");
    for (const result of [
      null,
      "allow",
      true,
      [],
      { decision: "Allow" },
      { decision: "modify" },
      { allow: 1 },
    ]) {
      const { client } = await connected(afterHandshake((message, { reply }) => reply(message, result)));
      for (const type of blockingTypes) expectRefused(await ask(client, type), type, "invalid_decision");
    }
  });

  it.each([
    [{ decision: "modify" }, "modified_payload: "],
    [{ decision: "defer", retry_after_ms: "soon" }, "retry_after_ms: "],
    [{ decision: "permit" }, "decision: "],
    ["allow", "Invalid input: expected object"],
  ])("is %j: the reason says what is wrong, and in which field", async (result, problem) => {
    const { client } = await connected(afterHandshake((message, { reply }) => reply(message, result)));
    const verdict = await ask(client, "pre_action");
    expectRefused(verdict, "pre_action", "invalid_decision");
    expect(verdict.reason).toContain(`the answer is not a valid decision of pre_action: ${problem}`);
  });

  it("has the number of a request's id: the reason says so", async () => {
    const clock = createManualClock();
    const { client } = await connected(
      afterHandshake((_message, { write }) =>
        write({ jsonrpc: "2.0", id: 2, result: { decision: "allow" } }),
      ),
      { clock },
    );
    const verdict = ask(client, "pre_action");
    await poll(() => client.stats().droppedMessages).toBe(1);
    clock.advance(10_000);
    const refused = await verdict;
    expectRefused(refused, "pre_action", "invalid_answer");
    expect(refused.reason).toContain("an answer came to no request: 2");
  });

  it("has null beside its error or its result: it is as if the null had not come", async () => {
    const error = { code: -32603, message: "no" };
    const failing = await judgedWith((message, { write }) =>
      write({ jsonrpc: "2.0", id: message.id, result: null, error }),
    );
    expectAllRefused(failing, "harness_error");
    const { client } = await connected(
      afterHandshake((message, { write }) =>
        write({
          jsonrpc: "2.0",
          id: message.id,
          result: { decision: "allow", modified_payload: null, metadata: null },
          error: null,
          method: null,
        }),
      ),
    );
    expect(await ask(client, "pre_action")).toStrictEqual({
      origin: "harness",
      decision: { decision: "allow" },
    });
  });

  it("does not stand in for its reason: a block without one is no decision", async () => {
    const { client } = await connected(
      afterHandshake((message, { reply }) => reply(message, { decision: "block" })),
    );
    expectRefused(await ask(client, "pre_action"), "pre_action", "invalid_decision");
  });
});

describe("a batch", () => {
  const events = [1, 2, 3].map((payload) => ({ event_type: "pre_action", payload }) as const);
  const answering = (result: unknown) =>
    connected(afterHandshake((message, { reply }) => reply(message, result)));

  it.each([0, 1, 2, 4, 100])("that is answered with %d decisions is blocked as a whole", async (count) => {
    const { client } = await answering({ decisions: Array(count).fill({ decision: "allow" }) });
    const verdicts = await client.batch(events);
    expect(verdicts).toHaveLength(3);
    for (const verdict of verdicts) expectRefused(verdict, "pre_action", "decision_count");
  });

  it.each([null, {}, [], { decisions: null }, { decisions: { length: 3 } }])(
    "that is answered with %j is blocked",
    async (result) => {
      const { client } = await answering(result);
      for (const verdict of await client.batch(events))
        expectRefused(verdict, "pre_action", "invalid_answer");
    },
  );

  it("blocks only the event whose decision is none, and keeps the order", async () => {
    const block = { decision: "block", reason: "no" };
    const { client } = await answering({
      decisions: [{ decision: "allow" }, { decision: "approve" }, block],
    });
    const [first, second, third] = await client.batch(events);
    expect(first).toEqual({ origin: "harness", decision: { decision: "allow" } });
    expectRefused(second, "pre_action", "invalid_decision");
    expect(third).toEqual({ origin: "harness", decision: block });
    expect(client.stats()).toMatchObject({
      events: 3,
    });
  });
});

describe("a harness that does not only answer", () => {
  it("is not answered back, and changes nothing", async () => {
    const told: string[] = [];
    const { harness, client } = await connected(undefined, { onError: ({ message }) => told.push(message) });
    const before = harness.received.length;
    for (const line of [
      { jsonrpc: "2.0", id: "1", method: "ahp/event", params: {} },
      { jsonrpc: "2.0", method: "ahp/event", params: {} },
      { jsonrpc: "2.0", id: "h", method: "ahp/handshake" },
      { id: "x", method: 1 },
      [{ jsonrpc: "2.0", id: "1", result: {} }],
      [],
      null,
      1,
      "text",
    ]) {
      harness.last.write(line);
    }
    harness.last.wire.writeRaw("not json\n");
    harness.last.wire.writeRaw(new Uint8Array([0xff, 0xfe, 0x0a]));
    await poll(() => client.stats().droppedMessages).toBe(11);
    expect((await ask(client, "pre_action")).origin).toBe("harness");
    expect(harness.received.slice(before).map(({ method }) => method)).toEqual(["ahp/event"]);
    expect(told).toHaveLength(11);
  });

  it("does not stop a client whose reporters throw", async () => {
    const broken = () => {
      throw new TypeError("a reporter is broken");
    };
    const { harness, client } = await connected(undefined, {
      onError: broken,
      onLoss: broken,
    });
    client.onState(broken);
    harness.last.write(null);
    client.notify("post_action", {}, { depth: 11 });
    await poll(() => client.stats().droppedMessages).toBe(1);
    expect(client.stats().notificationsLost).toBe(1);
    expect((await ask(client, "idle")).origin).toBe("harness");
    await client.close();
    expect(client.state).toBe("closed");
  });
});

describe("whatever a harness answers", () => {
  const decisionLike = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        decision: fc.constantFrom(
          ...["allow", "block", "modify", "defer", "escalate", "retry", "queue"],
          null,
        ),
        reason: fc.oneof(fc.string(), fc.constant(null)),
        retry_after_ms: fc.oneof(fc.nat(), fc.double()),
        modified_payload: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(...Object.values(agreements)),
  );

  it("each verdict is the harness's own decision, or the refusing one", async () => {
    let next: unknown;
    const { client } = await connected(afterHandshake((message, { reply }) => reply(message, next)));
    const answer = fc.tuple(fc.constantFrom(...blockingTypes), decisionLike);
    await fc.assert(
      fc.asyncProperty(answer, async ([type, result]) => {
        next = result;
        const verdict = await ask(client, type);
        const schema = ahpEvents[type].decision;
        const expected = schema.safeParse(JSON.parse(JSON.stringify(result)));
        if (expected.success) expect(verdict).toEqual({ origin: "harness", decision: expected.data });
        else expectRefused(verdict, type, "invalid_decision");
      }),
      { numRuns: runs(100) },
    );
  });

  it("a reason may be any text, and the refusing decision is one of its event", async () => {
    await fc.assert(
      fc.property(fc.constantFrom(...blockingTypes), fc.string(), (type, reason) => {
        const decision = refusingDecision(type, reason);
        expect(ahpEvents[type].decision.parse(decision)).toEqual({ decision: refusals[type], reason });
      }),
    );
  });
});
