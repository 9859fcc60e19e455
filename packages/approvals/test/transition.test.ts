import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ApprovalEvent, type ApprovalRecord, ApprovalRecordSchema, dueAtMs } from "../src/index.ts";
import { lapse, type TransitionTimes, transition } from "../src/transition.ts";

const times: TransitionTimes = { useWithinMs: 50, reportWithinMs: 50 };
const [digest, otherDigest] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];
const pending: ApprovalRecord = {
  id: "apr_1",
  seq: 1,
  origin: { agent: "agent", session: "s" },
  subject: { tool: "bash", input: { command: "ls" } },
  digest,
  risk: { level: "unknown", reasons: [] },
  rule: { id: "rule", reason: "why" },
  createdAtMs: 0,
  changedAtMs: 0,
  expiresAtMs: 100,
  status: "pending",
  effect: "none",
};

const name = fc.constantFrom("ada", "bob", "eve");
const anyDigest = fc.constantFrom(digest, digest, digest, otherDigest);
const event: fc.Arbitrary<ApprovalEvent> = fc.oneof(
  fc.record({
    type: fc.constant("answer" as const),
    decision: fc.constantFrom("approve" as const, "approve" as const, "reject" as const),
    by: name,
    digest: anyDigest,
  }),
  fc.record({ type: fc.constant("withdraw" as const), by: name }),
  fc.record({ type: fc.constant("take" as const), claimant: name, digest: anyDigest }),
  fc.record({
    type: fc.constant("report" as const),
    claimant: name,
    effect: fc.constantFrom("done" as const, "failed" as const, "ambiguous" as const),
  }),
);
const history = fc.array(fc.record({ event, afterMs: fc.nat({ max: 60 }) }), { maxLength: 12 });

/** Each step of a history: the record before and after, at its time. */
const play = (steps: readonly { readonly event: ApprovalEvent; readonly afterMs: number }[]) => {
  let record = pending;
  let nowMs = 0;
  return steps.map(({ event: each, afterMs }) => {
    nowMs += afterMs;
    const before = record;
    const result = transition(record, each, nowMs, times);
    record = result.record;
    return { event: each, before, result, nowMs };
  });
};

describe("the state machine of an approval", () => {
  it("counts one answer and one claim, bound to the digest and in time, whatever happens", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const played = play(steps);
        const accepted = played.filter(({ result }) => result.ok);
        const of = (type: ApprovalEvent["type"]) => accepted.filter(({ event: each }) => each.type === type);
        expect(of("answer").length).toBeLessThanOrEqual(1);
        expect(of("take").length).toBeLessThanOrEqual(1);
        for (const { event: each, before, nowMs } of accepted) {
          if ("digest" in each) expect(each.digest).toBe(digest);
          if (each.type === "answer") expect([before.status, nowMs < 100]).toEqual(["pending", true]);
          if (each.type !== "take") continue;
          const isInTime = before.status === "rejected" || nowMs < (before.answer?.useByMs ?? 0);
          expect([before.answer !== undefined, isInTime]).toEqual([true, true]);
        }
      }),
    );
  });

  it("always is a valid record, and time ends each open one", () => {
    fc.assert(
      fc.property(history, (steps) => {
        for (const { result } of play(steps)) {
          expect(ApprovalRecordSchema.parse(result.record)).toEqual(result.record);
          const ended = lapse(result.record, 10_000);
          expect(dueAtMs(ended)).toBe(undefined);
          expect(lapse(ended, 20_000)).toBe(ended);
        }
      }),
    );
  });

  it("refuses each event with the code that says why", () => {
    const answer = { type: "answer", decision: "approve", by: "ada", digest } as const;
    const take = { type: "take", claimant: "hook", digest } as const;
    const report = { type: "report", claimant: "hook", effect: "done" } as const;
    const withdraw = { type: "withdraw", by: "agent" } as const;
    const codeOf = (events: readonly ApprovalEvent[], nowMs = 1) => {
      let record = pending;
      for (const each of events.slice(0, -1)) record = transition(record, each, 1, times).record;
      const result = transition(record, events.at(-1) ?? answer, nowMs, times);
      return result.ok ? result.record.status : result.code;
    };
    expect([
      codeOf([answer, answer]),
      codeOf([{ ...answer, decision: "reject" }, answer]),
      codeOf([{ ...answer, digest: otherDigest }]),
      codeOf([answer], 100),
      codeOf([withdraw, answer]),
      codeOf([take]),
      codeOf([answer, { ...take, digest: otherDigest }]),
      codeOf([answer, take, take]),
      codeOf([answer, take], 51),
      codeOf([answer, take, withdraw]),
      codeOf([answer, report]),
      codeOf([answer, take, { ...report, claimant: "other" }]),
      codeOf([answer, take, report, report]),
      codeOf([{ ...answer, decision: "reject" }, withdraw]),
      codeOf([withdraw, withdraw]),
    ]).toEqual([
      ...["already_answered", "already_answered", "wrong_digest", "expired", "withdrawn"],
      ...["not_answered", "wrong_digest", "already_taken", "expired", "already_taken"],
      ...["not_claimed", "not_claimant", "already_reported", "already_answered", "withdrawn"],
    ]);
  });

  it("gives a claim the shorter of the time it asks for and the limit", () => {
    const answer = { type: "answer", decision: "approve", by: "ada", digest } as const;
    const approved = transition(pending, answer, 1, times).record;
    const reportByMs = (reportWithinMs: number) =>
      transition(approved, { type: "take", claimant: "hook", digest, reportWithinMs }, 2, times).record.taken
        ?.reportByMs;
    expect([reportByMs(10), reportByMs(1000)]).toEqual([12, 52]);
  });
});
