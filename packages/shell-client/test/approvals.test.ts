import { approvalSubject, requestExtensionOf } from "@harnesskit/protocol/openharness";
import { digest, TransportError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import type { ApprovalAsk, PendingApproval, ShellClientOptions } from "../src/index.ts";
import {
  codesOf,
  diagnosed,
  fail,
  failureOf,
  manualClock,
  outcomesOf,
  question,
  rejection,
  respond,
  type Sent,
  say,
  scripted,
} from "./support.ts";

const approvalIn = ({ request }: Sent) => requestExtensionOf(request.context?.extensions);
const isAnswer = (request: Sent) => approvalIn(request) !== undefined;

/** An engine that asks first, and does what it was allowed to. */
const asking = (options: Partial<ShellClientOptions> = {}, asked = question()) =>
  scripted((request) => {
    if (!isAnswer(request)) return respond(request, [asked, say("beside it")]);
    const approval = approvalIn(request);
    return respond(request, [say(approval === "invalid" ? "?" : `${approval?.approval?.decision}`)]);
  }, options);

describe("a request_approval", () => {
  it("is asked, and its answer sent with its continuation and the digest of what was shown", async () => {
    const asks: ApprovalAsk[] = [];
    const { shell, sent, shown } = asking({
      session: { sessionId: "s", continuation: { continuation_token: "of the session" } },
      approve: (ask) => {
        asks.push(ask);
        return { decision: "approved", reason: "fine by me" };
      },
    });
    const outcome = await shell.send({ intent: "pay", correlationId: "corr-1" });
    const bound = await digest(approvalSubject(question()));
    expect(asks).toEqual([
      expect.objectContaining({ why: "engine", riskTier: "safe", digest: bound, directive: question() }),
    ]);
    expect(sent[0]?.request.context?.continuation).toEqual({ continuation_token: "of the session" });
    const { user_intent, continuation, session_id } = sent[1]?.request.context ?? {};
    expect([user_intent, session_id]).toEqual([undefined, "s"]);
    expect(continuation).toEqual({ run_id: "run_1", continuation_token: "t1" });
    expect(sent[1]).toMatchObject({
      correlation_id: "corr-1",
      capabilities: { "openharness.ui.approval": true },
    });
    expect(sent[1]?.request_id).not.toBe(sent[0]?.request_id);
    expect(approvalIn(sent[1] as Sent)).toEqual({
      approval: { decision: "approved", reason: "fine by me", digest: bound },
    });
    // What stands beside the question does not wait for the answer.
    expect(shown).toEqual(["beside it", "approved"]);
    expect(outcomesOf(outcome)).toEqual(["answered", "done", "done"]);
    expect(outcome).toMatchObject({ status: "success", pendingApprovals: [] });
    expect(outcome.results[0]?.value).toEqual({ decision: "approved", reason: "fine by me" });
    expect(outcome.results.map(({ requestId }) => requestId)).toEqual([
      sent[0]?.request_id,
      sent[0]?.request_id,
      sent[1]?.request_id,
    ]);
  });

  it.each<[string, Partial<ShellClientOptions>]>([
    ["nobody is there", {}],
    ["there is no answer", { approve: () => undefined }],
    ["answers come later", { approve: () => "approved", answerApprovals: false }],
  ])("stays pending where %s, and is answered later by another client", async (_name, options) => {
    const { shell, sent, shown } = asking(options);
    const outcome = await shell.send({ intent: "pay" });
    expect([outcomesOf(outcome), sent.length, shown]).toEqual([["pending", "done"], 1, ["beside it"]]);
    const pending: PendingApproval = JSON.parse(JSON.stringify(outcome.pendingApprovals[0]));
    expect(pending).toEqual({
      directive: question(),
      digest: await digest(approvalSubject(question())),
      continuation: { run_id: "run_1", continuation_token: "t1" },
    });
    const other = asking({ session: JSON.parse(JSON.stringify(shell.session)) });
    const answered = await other.shell.answer(pending, { decision: "approved", reason: "ok" });
    expect(answered).toMatchObject({ status: "success", pendingApprovals: [] });
    expect(other.shown).toEqual(["approved"]);
    expect(other.sent[0]?.request.context).toMatchObject({
      session_id: sent[0]?.request.context?.session_id,
      continuation: pending.continuation,
    });
    expect(approvalIn(other.sent[0] as Sent)).toEqual({
      approval: { decision: "approved", reason: "ok", digest: pending.digest },
    });
  });

  it("that was changed in the store is not answered", async () => {
    const { shell, sent } = asking();
    const pending = (await shell.send({})).pendingApprovals[0] as PendingApproval;
    const changed = { ...pending, directive: { ...pending.directive, payload: { message: "Delete all?" } } };
    const otherDigest = { ...pending, digest: `sha256:${"0".repeat(64)}` };
    for (const wrong of [changed, otherDigest]) {
      expect(await rejection(shell.answer(wrong, "approved"))).toMatchObject({ code: "approval_mismatch" });
    }
    const none: unknown[] = [null, "x", {}, { ...pending, continuation: 1 }, { ...pending, directive: {} }];
    for (const wrong of none) {
      const error = await rejection(shell.answer(wrong as PendingApproval, "approved"));
      expect(error).toMatchObject({ name: "ShellClientError", code: "invalid_request", reason: "schema" });
    }
    const noDecision = await rejection(shell.answer(pending, true as never));
    expect(noDecision).toMatchObject({ code: "invalid_request", path: "decision" });
    const other = { decision: "approved", digest: "sha256:other" } as const;
    expect(await rejection(shell.answer(pending, other))).toMatchObject({ code: "approval_mismatch" });
    expect(sent.length).toBe(1);
  });

  it("fails where approve returns something that is no answer, and stays pending", async () => {
    const { shell, sent } = asking({ approve: () => true as never });
    const outcome = await shell.send({});
    expect([outcomesOf(outcome), sent.length]).toEqual([["failed", "done"], 1]);
    expect(outcome.results[0]?.error).toMatchObject({
      code: "approval_failed",
      message: expect.stringContaining("a value of type boolean without a decision"),
    });
    expect(outcome.pendingApprovals[0]?.directive).toEqual(question());
  });

  it("without a continuation is asked, and its answer is the next intent", async () => {
    const bare = { action_type: "request_approval", payload: { message: "Delete all?" } };
    const asks: unknown[] = [];
    const { shell, sent } = scripted(
      (request) => respond(request, request.request.context?.user_intent === "go" ? [bare] : [say("kept")]),
      {
        approve: ({ directive, why }) => {
          asks.push([directive.payload?.message, why]);
          return { decision: "refused", reason: "keep them" };
        },
      },
    );
    const outcome = await shell.send({ intent: "go" });
    expect(asks).toEqual([["Delete all?", "engine"]]);
    expect(outcomesOf(outcome)).toEqual(["answered", "done"]);
    expect(sent[1]?.request.context).toMatchObject({
      user_intent: "refused: keep them",
      session_id: sent[0]?.request.context?.session_id,
    });
    expect(approvalIn(sent[1] as Sent)).toBeUndefined();
  });

  it("without a continuation is shown where nobody answers, because it cannot be kept", async () => {
    const bare = { action_type: "request_approval", payload: { message: "Delete all?" } };
    for (const options of [{}, { approve: () => undefined }, { answerApprovals: false }]) {
      const { shell, shown } = scripted((request) => respond(request, [bare]), options);
      const outcome = await shell.send({});
      expect([codesOf(outcome), outcome.pendingApprovals]).toEqual([["no_continuation"], []]);
      expect(shown).toEqual(["Delete all?"]);
    }
  });

  it("whose text cannot be bound to is not asked", async () => {
    const { shell } = scripted((request) => respond(request, [question("\ud800")]), {
      approve: () => expect.unreachable(),
    });
    const outcome = await shell.send({});
    expect([codesOf(outcome), outcome.pendingApprovals]).toEqual([["approval_failed"], []]);
  });

  it("may have its continuation in the response, which is then no one else's", async () => {
    const continuation = { continuation_token: "c1" };
    const bare = { action_type: "request_approval", payload: { message: "?" } };
    const { shell, sent } = scripted((request) =>
      isAnswer(request)
        ? respond(
            request,
            [],
            {},
            { extensions: { "dev.harnesskit": { continuation: { continuation_token: "c2" } } } },
          )
        : respond(request, [bare], {}, { extensions: { "dev.harnesskit": { continuation } } }),
    );
    const [pending] = (await shell.send({})).pendingApprovals;
    expect([pending?.continuation, shell.session.continuation]).toEqual([continuation, undefined]);
    // A message meanwhile does not use the question's continuation up.
    await shell.send({ intent: "meanwhile" });
    expect(sent[1]?.request.context).not.toHaveProperty("continuation");
    await shell.answer(pending as PendingApproval, "approved");
    expect(shell.session.continuation).toEqual({ continuation_token: "c2" });
  });

  it("whose deadline is over is not asked and not pending", async () => {
    const clock = manualClock();
    let asked = 0;
    const { shell } = asking(
      {
        clock,
        approve: () => {
          asked++;
          return new Promise(() => {});
        },
      },
      question("?", "t1", { deadline_ms: 50 }),
    );
    const sending = shell.send({});
    await until(() => asked === 1);
    clock.advance(50);
    const outcome = await sending;
    expect([outcomesOf(outcome), outcome.pendingApprovals]).toEqual([["expired", "done"], []]);
  });

  it("keeps its question where asking failed, or was given up", async () => {
    const threw = asking({ approve: () => Promise.reject(new RangeError("closed")) });
    const failed = await threw.shell.send({});
    expect([outcomesOf(failed), codesOf(failed)[0]]).toEqual([["failed", "done"], "approval_failed"]);
    expect(failed.pendingApprovals[0]?.directive).toEqual(question());
    const abort = new AbortController();
    const gaveUp = asking({
      approve: () => {
        abort.abort();
        return "approved";
      },
    });
    const outcome = await gaveUp.shell.send({ signal: abort.signal });
    expect(failureOf(outcome).code).toBe("cancelled");
    expect([outcomesOf(outcome), gaveUp.sent.length]).toEqual([["not_reached", "not_reached"], 1]);
    expect(outcome.pendingApprovals[0]?.directive).toEqual(question());
  });
});

describe("the answer to a question", () => {
  it("that cannot be sent leaves it pending; one that was used up does not", async () => {
    const errors: [unknown, boolean][] = [
      [{ code: "engine_timeout", retryable: true }, true],
      [{ code: "unauthorized" }, true],
      [{ code: "approval_mismatch" }, true],
      [{ code: "continuation_used" }, false],
      [{ code: "internal_error", retryable: false }, false],
    ];
    for (const [error, isPending] of errors) {
      const { shell } = scripted((request) =>
        isAnswer(request) ? fail(request, error as object) : respond(request, [question()]),
      );
      const [pending] = (await shell.send({})).pendingApprovals;
      const outcome = await shell.answer(pending as PendingApproval, "approved");
      expect(outcome).toMatchObject({ status: "error", error });
      expect(outcome.pendingApprovals).toEqual(isPending ? [pending] : []);
    }
    const { shell } = scripted(
      (request) =>
        isAnswer(request)
          ? Promise.reject(new TransportError("x"))
          : respond(request, [question(), say("hi")]),
      {
        approve: () => "approved",
      },
    );
    const outcome = await shell.send({});
    expect(failureOf(outcome).code).toBe("engine_unreachable");
    expect([outcomesOf(outcome), outcome.pendingApprovals.length]).toEqual([["answered", "done"], 1]);
  });

  it("that is too large to be sent leaves it pending too", async () => {
    const { shell, sent } = asking({
      approve: () => ({ decision: "refused", reason: "x".repeat(2000) }),
      limits: { maxRequestBytes: 1500 },
    });
    const outcome = await shell.send({});
    expect(failureOf(outcome)).toMatchObject({ code: "invalid_request", reason: "too_large" });
    expect([sent.length, outcome.pendingApprovals.length]).toEqual([1, 1]);
  });

  it("may bring another question, as often as maxFollowUps", async () => {
    let asked = 0;
    const { shell, sent, diagnostics } = scripted(
      (request) => respond(request, [question("?", `t${sent.length}`)]),
      {
        approve: () => {
          asked++;
          return "approved";
        },
        limits: { maxFollowUps: 3 },
      },
    );
    const outcome = await shell.send({});
    expect(outcome.results.map(({ outcome: one }) => one)).toEqual(
      Array.from({ length: 4 }, () => "answered"),
    );
    expect([sent.length, asked]).toEqual([4, 4]);
    expect(outcome.pendingApprovals.map(({ continuation }) => continuation.continuation_token)).toEqual([
      "t4",
    ]);
    expect(diagnosed(diagnostics)).toEqual(["follow_ups_exhausted"]);
  });

  it("belongs to one of several questions, each with its own", async () => {
    const { shell, sent } = scripted(
      (request) =>
        respond(
          request,
          isAnswer(request) ? [] : [question("a", "ta"), question("b", "tb"), question("c", "tc")],
        ),
      {
        approve: ({ directive }) =>
          (({ a: "approved", b: undefined, c: "refused" }) as const)[`${directive.payload?.message}` as "a"],
      },
    );
    const outcome = await shell.send({});
    expect(outcomesOf(outcome)).toEqual(["answered", "pending", "answered"]);
    expect(outcome.pendingApprovals.map(({ continuation }) => continuation.continuation_token)).toEqual([
      "tb",
    ]);
    expect(sent.slice(1).map(({ request }) => request.context?.continuation?.continuation_token)).toEqual([
      "ta",
      "tc",
    ]);
  });
});

describe("the session's continuation", () => {
  const token = (continuation_token: string) => ({
    extensions: { "dev.harnesskit": { continuation: { continuation_token } } },
  });

  it("is shown once, follows the responses, and is put back where it was not used", async () => {
    const answers: ((request: Sent) => unknown)[] = [
      (request) => respond(request, [], {}, token("c1")),
      (request) => fail(request, { code: "forbidden" }),
      () => Promise.reject(new TransportError("x")),
      (request) => fail(request, { code: "continuation_used" }),
      (request) => respond(request, [], {}, token("c2")),
      (request) => respond(request),
      (request) => respond(request),
    ];
    const { shell, sent } = scripted((request, _call, attempt) => answers[attempt - 1]?.(request), {
      retry: { maxAttempts: 1 },
    });
    const states: unknown[] = [];
    for (const _ of answers) {
      await shell.send({});
      states.push(shell.session.continuation?.continuation_token);
    }
    expect(states).toEqual(["c1", "c1", "c1", undefined, "c2", undefined, undefined]);
    expect(sent.map(({ request }) => request.context?.continuation?.continuation_token)).toEqual([
      undefined,
      "c1",
      "c1",
      "c1",
      undefined,
      "c2",
      undefined,
    ]);
  });

  it("is no other call's at the same time, and is left alone by a call with one of its own, or without", async () => {
    const session = { sessionId: "s", continuation: { continuation_token: "c1" } };
    const { shell, sent } = scripted((request) => respond(request), { session });
    await shell.send({ continuation: false });
    await shell.send({ continuation: { run_id: "r", continuation_token: "mine" } });
    expect(shell.session).toEqual(session);
    await Promise.all([shell.send({}), shell.send({})]);
    expect(sent.map(({ request }) => request.context?.continuation?.continuation_token)).toEqual([
      undefined,
      "mine",
      "c1",
      undefined,
    ]);
  });
});
