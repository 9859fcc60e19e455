import { ahpEvents } from "@harnesskit/protocol/ahp";
import { createManualClock } from "@harnesskit/wire/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { type AhpClient, AhpFailure } from "../src/index.ts";
import { ahpFailureOf, connected, poll } from "./support/client.ts";
import { afterHandshake, type Connection, type Message } from "./support/fake-harness.ts";
import { agreements, blockingTypes, payloads, refusals, specialisedTypes } from "./support/samples.ts";

type Answer = (message: Message, connection: Connection) => void;

const ask = (client: AhpClient, type: (typeof blockingTypes)[number], options = {}): Promise<any> =>
  client.decide(type, payloads[type] as never, options);

const expectRefused = (verdict: any, type: keyof typeof refusals, code: string) => {
  expect(verdict).toEqual({
    origin: "client",
    decision: { decision: refusals[type], reason: verdict.reason },
    code,
    reason: expect.stringContaining(`The harness gave no decision (${code}): `),
    error: expect.any(AhpFailure),
  });
  expect(verdict.error.code).toBe(code);
  expect(ahpEvents[type].decision.safeParse(verdict.decision).success).toBe(true);
};

/** Every call of the client is refused when the harness answers so. */
const expectAllRefused = async (answer: Answer, code: string, queryCode = code) => {
  const { client } = await connected(afterHandshake(answer));
  const verdicts = await Promise.all(blockingTypes.map((type) => ask(client, type)));
  for (const [index, verdict] of verdicts.entries())
    expectRefused(verdict, blockingTypes[index] as never, code);
  const batch = await client.batch([
    { event_type: "pre_action", payload: 1 },
    { event_type: "post_action", payload: 2 },
  ]);
  const query = await ahpFailureOf(client.query("t", "q"));
  expect(query.code).toBe(queryCode);
  expect(client.state).toBe("ready");
  return { batch, errors: [query, ...verdicts.map(({ error }) => error)] };
};

const result = { decision: "allow", answer: 1 };

describe("an answer that cannot be used", () => {
  it.each<[string, object]>([
    ["is of JSON-RPC 1.0", { jsonrpc: "1.0", result }],
    ["has no version", { jsonrpc: undefined, result }],
    ["has no result", {}],
    ["has an error beside its result", { result, error: { code: 1, message: "m" } }],
    ["has an error that is not one", { error: { code: "1", message: "m" } }],
    ["has null for an error alone", { error: null }],
  ])("%s: every call is refused at once", async (_what, fields) => {
    const { batch } = await expectAllRefused(
      (message, { write }) => write({ jsonrpc: "2.0", id: message.id, ...fields }),
      "invalid_answer",
    );
    for (const verdict of batch) expectRefused(verdict, "pre_action", "invalid_answer");
  });

  it.each<[string, (connection: Connection, id: string) => void, string, number]>([
    ["has another id", ({ write }) => write({ jsonrpc: "2.0", id: "zz", result }), "invalid_answer", 1],
    [
      "has the number of the id",
      ({ write }, id) => write({ jsonrpc: "2.0", id: Number(id), result }),
      "invalid_answer",
      1,
    ],
    ["is a list", ({ write }, id) => write([{ jsonrpc: "2.0", id, result }]), "invalid_answer", 1],
    ["is not JSON", ({ wire }) => wire.writeRaw("harness starting…\n"), "invalid_answer", 1],
    ["is not UTF-8", ({ wire }) => wire.writeRaw(new Uint8Array([0xff, 0xfe, 0x0a])), "invalid_answer", 1],
    [
      "is a request",
      ({ write }, id) => write({ jsonrpc: "2.0", id, method: "ahp/event" }),
      "invalid_answer",
      1,
    ],
    [
      "is over the limit",
      ({ wire }, id) => wire.writeRaw(`{"id":"${id}","x":"${"x".repeat(5e6)}"}\n`),
      "invalid_answer",
      1,
    ],
    [
      "is an error without an id",
      ({ write }) => write({ jsonrpc: "2.0", id: "", error: { code: -32600, message: "too deep" } }),
      "harness_error",
      0,
    ],
  ])("%s: it settles no call, which is refused at its deadline", async (_what, answer, code, dropped) => {
    const clock = createManualClock();
    const { client, harness, ...watched } = await connected(
      afterHandshake((message, connection) => answer(connection, message.id ?? "")),
      { clock },
    );
    const verdict = ask(client, "pre_action");
    await poll(() => watched.dropped()).toBe(dropped);
    clock.advance(9_999);
    await harness.until("ahp/event", 1);
    clock.advance(1);
    expectRefused(await verdict, "pre_action", code);
    const [, message] = harness.received;
    if (message) harness.last.reply(message, { decision: "allow" });
    await poll(() => watched.dropped()).toBe(1);
    expect(harness.received).toHaveLength(2);
  });

  it("is an error: its code and message reach the caller", async () => {
    const { batch, errors } = await expectAllRefused(
      (message, { fail }) => fail(message, -32603, "Handler error: \u202edown", { reason: "handler_failed" }),
      "harness_error",
    );
    for (const verdict of batch) expectRefused(verdict, "pre_action", "harness_error");
    for (const error of errors) {
      expect(error).toMatchObject({ rpcCode: -32603, rpcMessage: "Handler error: \u202edown" });
      expect(error.message).not.toContain("\u202e");
    }
  });

  it.each([
    [-32601, "Method not found", "not_handled"],
    [-32603, "Handler error: Capability not supported: idle", "not_handled"],
    [-32602, "Invalid params: unknown event type", "harness_error"],
    [-32603, "Handler error: the database is gone", "harness_error"],
  ])("is %d %s: %s", async (code, text, failure) => {
    const { client } = await connected(afterHandshake((message, { fail }) => fail(message, code, text)));
    for (const type of specialisedTypes) {
      const verdict = await ask(client, type);
      expectRefused(verdict, type, failure);
      expect(verdict.error).toMatchObject({ rpcCode: code, rpcMessage: text });
    }
  });

  it("is a decision of another type", async () => {
    await expectAllRefused(
      (message, { reply }) => {
        const isConfirmation = message.params.event_type === "confirmation";
        reply(message, isConfirmation ? agreements.pre_action : agreements.confirmation);
      },
      "invalid_decision",
      "invalid_answer",
    );
  });

  it.each([
    [{ decision: "modify" }, "modified_payload: "],
    [{ decision: "block" }, "reason: "],
    [{ decision: "defer", retry_after_ms: "soon" }, "retry_after_ms: "],
    [{ decision: "permit" }, "decision: "],
    ["allow", "Invalid input: expected object"],
  ])("is %j: the reason says what is wrong, and in which field", async (given, problem) => {
    const { client } = await connected(afterHandshake((message, { reply }) => reply(message, given)));
    const verdict = await ask(client, "pre_action");
    expectRefused(verdict, "pre_action", "invalid_decision");
    expect(verdict.reason).toContain(`the answer is not a valid decision of pre_action: ${problem}`);
  });

  it("has null beside its error or its result: it is as if the null had not come", async () => {
    await expectAllRefused(
      ({ id }, { write }) =>
        write({ jsonrpc: "2.0", id, result: null, error: { code: -32603, message: "no" } }),
      "harness_error",
    );
    const allow = { decision: "allow", modified_payload: null, metadata: null };
    const { client } = await connected(
      afterHandshake(({ id }, { write }) =>
        write({ jsonrpc: "2.0", id, result: allow, error: null, method: null }),
      ),
    );
    expect(await ask(client, "pre_action")).toStrictEqual({
      origin: "harness",
      decision: { decision: "allow" },
    });
  });
});

describe("a batch", () => {
  const events = [1, 2, 3].map((payload) => ({ event_type: "pre_action", payload }) as const);
  const answering = (given: unknown) =>
    connected(afterHandshake((message, { reply }) => reply(message, given)));

  it.each([
    ...[0, 2, 4].map(
      (count) => [{ decisions: Array(count).fill({ decision: "allow" }) }, "decision_count"] as const,
    ),
    ...[null, [], { decisions: null }, { decisions: { length: 3 } }].map(
      (given) => [given, "invalid_answer"] as const,
    ),
  ])("that is answered with %j is blocked as a whole", async (given, code) => {
    const { client } = await answering(given);
    const verdicts = await client.batch(events);
    expect(verdicts).toHaveLength(3);
    for (const verdict of verdicts) expectRefused(verdict, "pre_action", code);
  });

  it("blocks only the event whose decision is not one, and keeps the order", async () => {
    const block = { decision: "block", reason: "no" };
    const { client } = await answering({
      decisions: [{ decision: "allow" }, { decision: "approve" }, block],
    });
    const [first, second, third] = await client.batch(events);
    expect(first).toEqual({ origin: "harness", decision: { decision: "allow" } });
    expectRefused(second, "pre_action", "invalid_decision");
    expect(third).toEqual({ origin: "harness", decision: block });
  });
});

it("listeners that throw change nothing", async () => {
  const broken = () => {
    throw new TypeError("a reporter is broken");
  };
  const { harness, client } = await connected(undefined, { onError: broken });
  client.onState(broken);
  harness.last.write(null);
  expect(client.notify("post_action", {}, { depth: 11 })).toBe(false);
  expect((await ask(client, "idle")).origin).toBe("harness");
  await client.close();
  expect(client.state).toBe("closed");
});

it("whatever a harness answers, each verdict is its own decision, or the refusing one", async () => {
  const decisionLike = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        decision: fc.constantFrom("allow", "block", "modify", "defer", "escalate", "retry", "queue", null),
        reason: fc.oneof(fc.string(), fc.constant(null)),
        retry_after_ms: fc.oneof(fc.nat(), fc.double()),
        modified_payload: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(...Object.values(agreements)),
  );
  let next: unknown;
  const { client } = await connected(afterHandshake((message, { reply }) => reply(message, next)));
  const answer = fc.tuple(fc.constantFrom(...blockingTypes), decisionLike);
  await fc.assert(
    fc.asyncProperty(answer, async ([type, given]) => {
      next = given;
      const verdict = await ask(client, type);
      const expected = ahpEvents[type].decision.safeParse(JSON.parse(JSON.stringify(given)));
      if (expected.success) expect(verdict).toEqual({ origin: "harness", decision: expected.data });
      else expectRefused(verdict, type, "invalid_decision");
    }),
    { numRuns: runs(100) },
  );
});
