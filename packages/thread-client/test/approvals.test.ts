import { createDeferred, type HarnessError, ProtocolError } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ApprovalHandler, ThreadApprovalError, type ThreadClientOptions } from "../src/index.ts";
import { eventsOf, failureOf } from "./sample-events.ts";
import { capabilities, type Handler, setUp as setUpAny } from "./scripted-server.ts";

const threadId = "ses_1";
const turn = eventsOf(threadId, "turn_1");

const setUp = async (
  options: Omit<ThreadClientOptions, "transport"> = {},
  respond: Handler = () => ({ ok: true }),
) => {
  const errors: HarnessError[] = [];
  const setup = await setUpAny(
    { "approval.respond": respond, "turn.cancel": () => ({ ok: true }) },
    { onError: (error) => errors.push(error), ...options },
  );
  return { ...setup, errors };
};

/** A callback that never decides, with what it was asked. */
const undecided = () => {
  const asked = createDeferred<Parameters<ApprovalHandler>>();
  const decision = createDeferred<"once" | "always" | "reject">();
  const onApproval: ApprovalHandler = (...call) => {
    asked.resolve(call);
    return decision.promise;
  };
  return { asked: asked.promise, decision, onApproval };
};

/** A question that comes together with the answer that names its turn; settles with what is answered. */
const askedAtStart = async (
  options: Omit<ThreadClientOptions, "transport">,
  more: object,
  ofTurn: { onApproval?: ApprovalHandler } = {},
) => {
  const event = await turn.approvalRequested("req_1");
  const { client, server } = await setUpAny(
    {
      initialize: () => ({ version: "1.0.0", capabilities: { ...capabilities, ...more } }),
      "approval.respond": () => ({ ok: true }),
      "turn.start": () => {
        server.send(event);
        return { turnId: "turn_1" };
      },
    },
    options,
  );
  const answered = server.called("approval.respond");
  await client.startTurn({ threadId, input: "a", ...ofTurn });
  return answered;
};

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason));
  });

const completedApproval = (requestId: string) =>
  turn.itemCompleted(
    turn.approval({
      requestId,
      permission: "bash",
      metadata: { tool: "bash", input: {}, digest: "x" },
      decision: "once",
      resolvedBy: "somebody",
    }),
  );

describe("deciding on approvals", () => {
  it.each(["once", "always", "reject"] as const)(
    "sends the answer %s of the turn's callback",
    async (decision) => {
      const { client, server, errors } = await setUp();
      const requests: unknown[] = [];
      await client.startTurn({
        threadId,
        input: "a",
        onApproval: (request) => {
          requests.push(request);
          return decision;
        },
      });
      const answered = server.called("approval.respond");
      const event = await turn.approvalRequested("req_1");
      server.send(event);
      expect((await answered).params).toEqual({ requestId: "req_1", decision });
      expect(requests).toEqual([event.data]);
      expect(errors).toEqual([]);
    },
  );

  it("asks the turn's callback before the client's, and the client's for everything else", async () => {
    const asked: string[] = [];
    const { client, server } = await setUp({
      onApproval: ({ requestId }) => {
        asked.push(`client ${requestId}`);
        return "reject";
      },
    });
    await client.startTurn({
      threadId,
      input: "a",
      onApproval: ({ requestId }) => {
        asked.push(`turn ${requestId}`);
        return "once";
      },
    });
    for (const [requestId, source] of [
      ["req_1", turn],
      ["req_2", eventsOf("ses_2", "turn_9")],
    ] as const) {
      const answered = server.called("approval.respond");
      server.send(await source.approvalRequested(requestId));
      await answered;
    }
    expect(asked).toEqual(["turn req_1", "client req_2"]);
  });

  it.each([
    [
      "with the reason, where the server knows it",
      { extensions: { grants: true } },
      { reason: "unattended" },
    ],
    ["without the reason, where it does not", {}, {}],
  ])("rejects where no user could be asked, %s", async (_, more, reason) => {
    const answered = await askedAtStart({ onApproval: () => "unattended" }, more);
    const { params = {} } = answered;
    expect(params).toMatchObject({ requestId: "req_1", decision: "reject", ...reason });
    expect("reason" in params).toBe("reason" in reason);
  });

  it("asks for an approval that arrives with the answer that names the turn", async () => {
    const asked: string[] = [];
    const onApproval: ApprovalHandler = ({ requestId }) => {
      asked.push(requestId);
      return "once";
    };
    const answered = await askedAtStart({ onApproval: () => "reject" }, {}, { onApproval });
    expect(answered.params).toEqual({ requestId: "req_1", decision: "once" });
    expect(asked).toEqual(["req_1"]);
  });

  it("asks once for an approval that is told twice", async () => {
    let asked = 0;
    const { server } = await setUp({
      onApproval: () => {
        asked++;
        return "once";
      },
    });
    const event = await turn.approvalRequested("req_1");
    const first = server.called("approval.respond");
    server.send(event, event);
    await first;
    const second = server.called("approval.respond");
    server.send(event, await turn.approvalRequested("req_2"));
    expect((await second).params).toMatchObject({ requestId: "req_2" });
    expect(asked).toBe(2);
  });

  it("answers nothing without a callback, and what the caller says by hand", async () => {
    const { client, server } = await setUp();
    const handle = await client.startTurn({ threadId, input: "a" });
    server.send(await turn.approvalRequested("req_1"));
    for await (const { type } of handle) if (type === "approval.requested") break;
    expect(server.count("approval.respond")).toBe(0);
    await client.respondApproval("req_1", "always");
    expect(server.calls.at(-1)?.params).toEqual({ requestId: "req_1", decision: "always" });
  });
});

describe("an approval that cannot be decided", () => {
  it.each([
    ["another input", { input: { command: "rm -rf /" } }],
    ["another tool", { tool: "write" }],
  ])("is rejected unasked when the digest is that of %s", async (_, other) => {
    let asked = 0;
    const { server, errors } = await setUp({
      onApproval: () => {
        asked++;
        return "always";
      },
    });
    const { digest } = (await turn.approvalRequested("req_0")).data.metadata;
    const answered = server.called("approval.respond");
    server.send(await turn.approvalRequested("req_1", { ...other, digest }));
    expect((await answered).params).toEqual({ requestId: "req_1", decision: "reject" });
    expect(asked).toBe(0);
    expect(errors).toMatchObject([
      { name: "ThreadApprovalError", code: "approval_digest_mismatch", requestId: "req_1" },
    ]);
    expect(ThreadApprovalError.isInstance(errors[0])).toBe(true);
  });

  const failure = new Error("the prompt broke");
  const broken: [string, ApprovalHandler][] = [
    [
      "throws",
      () => {
        throw failure;
      },
    ],
    ["rejects", () => Promise.reject(failure)],
    ["says something else", () => "yes" as "once"],
    ["says nothing", () => undefined as unknown as "once"],
  ];

  it.each(broken)("is rejected when the callback %s", async (_, onApproval) => {
    const { server, errors } = await setUp({ onApproval });
    const answered = server.called("approval.respond");
    server.send(await turn.approvalRequested("req_1"));
    expect((await answered).params).toEqual({ requestId: "req_1", decision: "reject" });
    expect(errors).toMatchObject([{ code: "approval_callback_failed", requestId: "req_1" }]);
    expect(errors[0]?.cause).toBeInstanceOf(Error);
  });

  it("is rejected for an answer that is none, and without onError a warning names those that there are", async () => {
    const warned = createDeferred<Error>();
    process.on("warning", warned.resolve);
    onTestFinished(() => void process.off("warning", warned.resolve));
    const { server } = await setUp({ onError: undefined, onApproval: () => true as unknown as "once" });
    server.send(await turn.approvalRequested("req_1"));
    const { name, message } = await warned.promise;
    expect(name).toBe("ThreadClientWarning");
    expect(message).toMatch(
      /^approval_callback_failed: .*must return "once", "always", "reject" or "unattended", got a value of type boolean$/,
    );
  });

  it("is rejected over the limit of open approvals", async () => {
    const { onApproval, asked, decision } = undecided();
    const { server, errors } = await setUp({ onApproval, limits: { maxOpenApprovals: 1 } });
    server.send(await turn.approvalRequested("req_1"));
    await asked;
    const rejected = server.called("approval.respond");
    server.send(await turn.approvalRequested("req_2"));
    expect((await rejected).params).toEqual({ requestId: "req_2", decision: "reject" });
    expect(errors).toMatchObject([{ code: "buffer_full", limitName: "maxOpenApprovals", limit: 1 }]);
    const answered = server.called("approval.respond");
    decision.resolve("once");
    expect((await answered).params).toEqual({ requestId: "req_1", decision: "once" });
  });
});

describe("an approval that is settled otherwise", () => {
  it.each([
    ["another client answered", () => completedApproval("req_1")],
    ["the turn was completed", () => turn.completed("cancelled")],
    ["the turn failed", () => turn.failed("no", "no")],
  ])("aborts the callback's signal when %s, and sends no answer", async (_, settling) => {
    const { onApproval, asked, decision } = undecided();
    const { client, server, errors } = await setUp({ onApproval });
    server.send(await turn.approvalRequested("req_1"));
    const [, { signal }] = await asked;
    expect(signal.aborted).toBe(false);
    server.send(settling());
    expect(await aborted(signal)).toMatchObject({ name: "ThreadApprovalError", code: "approval_settled" });
    decision.resolve("once");
    // Two round trips: an answer would have arrived by the second one.
    await client.cancelTurn(threadId);
    await client.cancelTurn(threadId);
    expect(server.count("approval.respond")).toBe(0);
    expect(errors).toEqual([]);
  });

  it("is not touched by another item, another turn or another thread", async () => {
    const { onApproval, asked, decision } = undecided();
    const { client, server } = await setUp({ onApproval });
    server.send(await turn.approvalRequested("req_1"));
    const [, { signal }] = await asked;
    server.send(
      completedApproval("req_2"),
      turn.itemCompleted(turn.message("item_req_1", "not an approval")),
      eventsOf(threadId, "turn_2").completed(),
      eventsOf("ses_2", "turn_1").completed(),
    );
    await client.cancelTurn(threadId);
    expect(signal.aborted).toBe(false);
    const answered = server.called("approval.respond");
    decision.resolve("always");
    expect((await answered).params).toEqual({ requestId: "req_1", decision: "always" });
  });

  it("lets the caller answer by hand instead of the callback", async () => {
    const { onApproval, asked, decision } = undecided();
    const { client, server } = await setUp({ onApproval });
    server.send(await turn.approvalRequested("req_1"));
    const [, { signal }] = await asked;
    await client.respondApproval("req_1", "reject");
    expect(signal.aborted).toBe(true);
    decision.resolve("once");
    // Two round trips: an answer would have arrived by the second one.
    await client.cancelTurn(threadId);
    await client.cancelTurn(threadId);
    expect(server.count("approval.respond")).toBe(1);
  });

  it("is no error when the server says that the answer came too late", async () => {
    const { client, server, errors } = await setUp({ onApproval: () => "once" }, () => {
      throw new ProtocolError(-32004, "Too late", { data: { reason: "already_resolved", by: "client-2" } });
    });
    const handle = await client.startTurn({ threadId, input: "a" });
    const answered = server.called("approval.respond");
    server.send(await turn.approvalRequested("req_1"));
    await answered;
    server.send(turn.completed());
    expect(await handle.result).toMatchObject({ status: "completed" });
    expect(errors).toEqual([]);
    const error = await failureOf(client.respondApproval("req_1", "once"));
    expect(error).toMatchObject({
      code: "approval_not_found",
      data: { reason: "already_resolved", by: "client-2" },
    });
  });

  it("reports an answer that could not be delivered", async () => {
    const reported = createDeferred<HarnessError>();
    const { server } = await setUp({ onApproval: () => "once", onError: reported.resolve }, () => {
      throw new ProtocolError(-32603, "The disk is full");
    });
    server.send(await turn.approvalRequested("req_1"));
    expect(await reported.promise).toMatchObject({
      name: "ThreadApprovalError",
      code: "approval_unanswered",
      requestId: "req_1",
      cause: { code: "internal_error" },
    });
  });
});
