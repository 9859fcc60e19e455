import {
  approvalRequestOf,
  approvalRequestsOf,
  createChatHarness,
  failureOfText,
  toApprovalPayload,
} from "@harnesskit/chat-harness";
import { type ChatEvent, createChatGraph, toChatTools } from "@harnesskit/chat-harness/ai-sdk";
import { createMemoryStore, type GraphStore, StoreError } from "@harnesskit/graph";
import { createDeferred, digest, InvalidArgumentError } from "@harnesskit/wire";
import { tool as harnessTool, type Tool } from "@harnesskit/wire/tool";
import { type ToolSet, tool } from "ai";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { brief, converse } from "./support/conversation.ts";
import { says, scriptedModel } from "./support/scripted-model.ts";

/** A tool that sends, under approval, and one that looks, without; both write down what they did. */
const mailTools = () => {
  const done: string[] = [];
  const tools: ToolSet = {
    send: tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: async ({ to }) => {
        done.push(`sent to ${to}`);
        return `sent to ${to}`;
      },
    }),
    look: tool({
      inputSchema: z.object({ at: z.string().default("inbox") }),
      execute: async ({ at }) => {
        done.push(`looked at ${at}`);
        return `${at}: 2 mails`;
      },
    }),
  };
  return { done, tools };
};

const sendTo = (id: string, to: string) => ({ id, name: "send", input: { to } });
const look = (id: string) => ({ id, name: "look" });

/** How the first call of a conversation failed. */
const firstFailure = async (chat: Pick<ReturnType<typeof converse>, "history">) =>
  failureOfText(String((await chat.history())[2]?.content));

/** A turn that waits for the approval of its call `a`. */
const pausedTurn = async (store: GraphStore = createMemoryStore()) => {
  const { done, tools } = mailTools();
  const script = scriptedModel(says("Shall I?", sendTo("a", "bob")), says("Sent."));
  const chat = converse({ model: script.model, tools }, store);
  const paused = await chat.send("mail bob");
  if (paused.outcome !== "suspended") throw new TypeError("the turn did not pause");
  return { chat, paused, done, script, store };
};

describe("a call that needs an approval", () => {
  it("is stored, and pauses the turn with its tool, its input and their digest", async () => {
    const { chat, paused, done } = await pausedTurn();
    expect(done).toEqual([]);
    expect(paused.descriptor).toEqual({
      signal_id: `${paused.invocation_id}.1.1`,
      metadata: {
        kind: "tool_approval",
        tool: "send",
        call_id: "a",
        input: { to: "bob" },
        digest: await digest({ tool: "send", input: { to: "bob" } }),
      },
    });
    expect(approvalRequestOf(paused.descriptor)).toEqual(paused.descriptor.metadata);
    expect(approvalRequestOf({ metadata: { kind: "job" } })).toBeUndefined();
    expect((await chat.history()).map(brief)).toEqual(["user: mail bob", "assistant: Shall I? (a)"]);
  });

  it("runs when it is approved, and the turn goes on", async () => {
    const { chat, paused, done, script } = await pausedTurn();
    const { digest: bound } = approvalRequestOf(paused.descriptor) ?? {};
    const end = await chat.answer(paused.invocation_id, {
      decision: "approve",
      ...(bound && { digest: bound }),
    });
    expect(end.outcome).toBe("completed");
    expect(done).toEqual(["sent to bob"]);
    expect((await chat.history()).map(brief)).toEqual([
      "user: mail bob",
      "assistant: Shall I? (a)",
      "a → sent to bob",
      "assistant: Sent.",
    ]);
    expect(script.prompts()[1]?.at(-1)).toMatchObject({
      role: "tool",
      content: [
        { toolCallId: "call00001", toolName: "send", output: { type: "text", value: "sent to bob" } },
      ],
    });
  });

  it("does not run when it is rejected, and the model is told so with the reason", async () => {
    const { chat, paused, done, script } = await pausedTurn();
    await chat.answer(paused.invocation_id, { decision: "reject", reason: "Bob has left." });
    expect(done).toEqual([]);
    expect(await firstFailure(chat)).toEqual({
      status: "rejected",
      code: "rejected",
      message: "The user rejected this call, and it was not run. The reason: Bob has left.",
    });
    expect(script.prompts()[1]?.at(-1)).toMatchObject({
      content: [{ output: { type: "error-json", value: { status: "rejected" } } }],
    });
  });

  it("does not run when no user could be asked, and the model is told that", async () => {
    const { chat, paused, done } = await pausedTurn();
    await chat.answer(paused.invocation_id, { decision: "reject", unattended: true });
    expect(done).toEqual([]);
    expect(await firstFailure(chat)).toEqual({
      status: "rejected",
      code: "approval.unattended",
      message: "No user could be asked to approve this call, and it was not run.",
    });
  });

  it("runs with the input that the person gave instead, and says so", async () => {
    const { chat, paused, done } = await pausedTurn();
    await chat.answer(paused.invocation_id, { decision: "approve", input: { to: "eve" } });
    expect(done).toEqual(["sent to eve"]);
    const history = await chat.history();
    expect(history[1]).toMatchObject({ tool_calls: [{ arguments: { to: "bob" } }] });
    expect(JSON.parse(history[2]?.content as string)).toEqual({
      note: "The user approved this call with another input.",
      input: { to: "eve" },
      output: "sent to eve",
    });
  });

  it("may depend on the input, and anything but a clear no asks", async () => {
    const done: unknown[] = [];
    const spend = tool({
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: async ({ amount }) => (amount > 50 ? true : amount > 10 ? (undefined as never) : false),
      execute: async ({ amount }) => done.push(amount),
    });
    const amounts = (...values: number[]) =>
      says("", ...values.map((amount, i) => ({ id: `c${i}`, name: "spend", input: { amount } })));
    const chat = converse({ model: scriptedModel(amounts(5, 20)).model, tools: { spend } });
    const paused = await chat.send("buy");
    expect(paused).toMatchObject({
      outcome: "suspended",
      descriptor: { metadata: { input: { amount: 20 } } },
    });
    expect(done).toEqual([5]);
  });

  it("is refused at once where nobody could be sure what they approve", async () => {
    const send = tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: async () => "sent",
    });
    const script = scriptedModel(
      says("", { id: "a", name: "send", input: '{"to":"\\ud800"}' }),
      says("I see."),
    );
    const chat = converse({ model: script.model, tools: { send } });
    await chat.send("go");
    expect(await firstFailure(chat)).toMatchObject({
      status: "not_run",
      code: "invalid_input",
    });
  });
});

describe("answers that are none", () => {
  it.each([
    ["another decision", { approval: { decision: "perhaps" } }],
    ["a field too many", { approval: { decision: "approve", inputs: {} } }],
    ["an answer under another name", { aproval: { decision: "approve" } }],
  ])("%s: refused, and the call can still be answered", async (_, signalPayload) => {
    const { chat, paused, done } = await pausedTurn();
    await expect(
      chat.graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload: signalPayload as never }),
    ).rejects.toMatchObject({
      name: "GraphError",
      code: "suspension_resume_payload_invalid",
    });
    expect(done).toEqual([]);
    expect(await chat.answer(paused.invocation_id, { decision: "approve" })).toMatchObject({
      outcome: "completed",
    });
    expect(done).toEqual(["sent to bob"]);
  });

  it.each([
    ["no answer at all", {}, "the signal brought no answer"],
    [
      "an answer to another request",
      toApprovalPayload({ decision: "approve", digest: "sha256:0" }),
      "the answer is for another request",
    ],
    [
      "edited input that does not fit",
      toApprovalPayload({ decision: "approve", input: { to: 1 } }),
      "The input does not fit the tool",
    ],
  ])("%s: asked again under the same signal, with the problem", async (_, signalPayload, problem) => {
    const { chat, paused, done } = await pausedTurn();
    const again = await chat.graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload });
    expect(again).toMatchObject({
      outcome: "suspended",
      descriptor: {
        signal_id: paused.descriptor.signal_id,
        metadata: { problem: expect.stringContaining(problem) },
      },
    });
    expect(done).toEqual([]);
    expect(await chat.answer(paused.invocation_id, { decision: "approve" })).toMatchObject({
      outcome: "completed",
    });
    expect(done).toEqual(["sent to bob"]);
  });
});

it.each([
  [undefined, 'the answer: expected the decision "approve" or "reject"'],
  [{ decision: "yes" }, 'the answer.decision: expected the decision "approve" or "reject"'],
  [{ decision: "approve", input: 1 }, "the answer.input: "],
  [{ decision: "reject", why: "" }, "the answer: Unrecognized key"],
])("an answer of another form, %j, makes no payload", (answer, message) => {
  const make = () => toApprovalPayload(answer as never);
  expect(make).toThrow(InvalidArgumentError);
  expect(make).toThrow(message);
});

it("a call that would do something else than was shown is asked about again, and does not run", async () => {
  const done: unknown[] = [];
  const files = { content: "old" };
  const write: Tool = {
    ...harnessTool({ name: "write", description: "Writes.", input: { type: "object" }, run: () => null }),
    effects: "write",
    prepare: async (input) => {
      const ready = { ...(input as object), over: files.content };
      return { input: ready, preview: `over ${files.content}`, run: async () => done.push(ready) };
    },
  };
  const script = scriptedModel(says("", { id: "a", name: "write", input: { to: "x" } }), says("Done."));
  const chat = converse({ model: script.model, tools: [write] });
  const paused = await chat.send("go");
  files.content = "new";
  const again = await chat.answer(paused.invocation_id, { decision: "approve" });
  expect(again).toMatchObject({
    outcome: "suspended",
    descriptor: {
      metadata: {
        input: { to: "x", over: "new" },
        preview: "over new",
        problem: "What would run has changed since it was shown.",
      },
    },
  });
  expect(done).toEqual([]);
  expect(await chat.answer(paused.invocation_id, { decision: "approve" })).toMatchObject({
    outcome: "completed",
  });
  expect(done).toEqual([{ to: "x", over: "new" }]);
});

describe("several calls in one step", () => {
  it("run in order and once each, those before a pause not again behind it", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(
      says("", look("a"), sendTo("b", "bob"), look("c"), sendTo("d", "eve"), look("e")),
      says("All done."),
    );
    const chat = converse({ model: script.model, tools });
    const first = await chat.send("go");
    expect(done).toEqual(["looked at inbox"]);
    expect(first).toMatchObject({ outcome: "suspended", descriptor: { metadata: { call_id: "b" } } });
    const second = await chat.answer(first.invocation_id, { decision: "approve", call_id: "b" });
    expect(done).toEqual(["looked at inbox", "sent to bob", "looked at inbox"]);
    expect(second).toMatchObject({
      outcome: "suspended",
      invocation_id: first.invocation_id,
      descriptor: { signal_id: `${first.invocation_id}.1.4`, metadata: { call_id: "d" } },
    });
    const end = await chat.answer(first.invocation_id, { decision: "reject" });
    expect(end.outcome).toBe("completed");
    expect(done).toEqual(["looked at inbox", "sent to bob", "looked at inbox", "looked at inbox"]);
    expect(
      (await chat.history()).map((message) =>
        message.role === "tool" ? message.tool_call_id : message.role,
      ),
    ).toEqual(["user", "assistant", "a", "b", "c", "d", "e", "assistant"]);
    expect(script.left()).toBe(0);
  });

  it("are asked about together, and each is answered by itself in any order, once, while what runs keeps its order", async () => {
    const { done, tools } = mailTools();
    const step = says("", sendTo("a", "ann"), look("b"), sendTo("c", "bob"), sendTo("d", "eve"));
    const script = scriptedModel(step, says("All done."));
    const store = createMemoryStore();
    const open = () => createChatHarness({ graph: createChatGraph({ model: script.model, tools }), store });
    const first = open();
    const turn = await first.send("s1", { role: "user", content: "mail all" });
    if (turn.outcome !== "suspended") throw new TypeError("the turn did not pause");
    const { invocation_id: invocationId } = turn;
    const waiting = approvalRequestsOf(turn.signal_descriptor);
    expect(waiting.map(({ call_id }) => call_id)).toEqual(["a", "c", "d"]);
    expect(new Set(waiting.map(({ signal_id }) => signal_id)).size).toBe(3);
    const answer = (harness: typeof first, index: number, decision: "approve" | "reject") => {
      const { signal_id: signalId, call_id, digest } = waiting[index] as (typeof waiting)[number];
      const payload = toApprovalPayload({ decision, call_id, digest });
      return harness.signal({ invocationId, signalId, payload });
    };
    // Two people at once, and one of them twice.
    const together = await Promise.all([
      answer(first, 2, "approve"),
      answer(first, 1, "reject"),
      answer(first, 1, "reject"),
    ]);
    expect(together.map(({ outcome }) => outcome)).toEqual(["resumed", "resumed", "already_resolved"]);
    expect(done).toEqual([]);
    const { suspended } = await first.pending("s1");
    expect(
      suspended.flatMap((each) => approvalRequestsOf(each.signal_descriptor)).map((each) => each.call_id),
    ).toEqual(["a"]);
    await first.close();
    const second = open();
    // Only by its session: the store knows the first signal of a suspension.
    const again = await second.signal({ signalId: waiting[2]?.signal_id as string, sessionId: "s1" });
    expect(again).toMatchObject({ error_category: "harness_signal_correlation_failed" });
    expect(await answer(second, 0, "approve")).toMatchObject({ turn: { outcome: "completed" } });
    expect(done).toEqual(["sent to ann", "looked at inbox", "sent to eve"]);
    await second.close();
  });

  it("an answer that names none of those that wait is asked again, and none of them runs", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(says("", sendTo("a", "ann"), sendTo("b", "bob")), says("Done."));
    const chat = converse({ model: script.model, tools });
    const paused = await chat.send("mail both");
    const again = await chat.answer(paused.invocation_id, { decision: "approve" });
    expect(again).toMatchObject({
      outcome: "suspended",
      descriptor: {
        metadata: {
          call_id: "a",
          problem: "several calls wait: the answer needs the call_id or the digest of its request",
        },
      },
    });
    const other = await chat.answer(paused.invocation_id, { decision: "approve", call_id: "z" });
    expect(other).toMatchObject({
      outcome: "suspended",
      descriptor: { metadata: { problem: "the answer is for another request" } },
    });
    expect(done).toEqual([]);
  });

  it("that only read run side by side, at most eight, with their results in order", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `r${index}`);
    const ends = new Map<string, () => void>();
    const events: string[] = [];
    const read = harnessTool({
      name: "read",
      description: "Reads.",
      effects: "read",
      input: z.object({ at: z.string() }),
      run: async ({ at }) => {
        const end = createDeferred<void>();
        ends.set(at, () => end.resolve());
        await end.promise;
        return `${at} read`;
      },
    });
    const calls = names.map((at) => ({ id: at, name: "read", input: { at } }));
    const script = scriptedModel(says("", ...calls), says("Done."));
    const onEvent = (event: ChatEvent) => event.type === "result" && events.push(event.call.id);
    const chat = converse({ model: script.model, tools: toChatTools([read]), onEvent });
    const turn = chat.send("read all");
    await vi.waitFor(() => expect([...ends.keys()]).toEqual(names.slice(0, 8)));
    for (const name of names.slice(0, 8).reverse()) ends.get(name)?.();
    await vi.waitFor(() => expect([...ends.keys()]).toEqual(names));
    for (const name of names.slice(8)) ends.get(name)?.();
    expect(await turn).toMatchObject({ outcome: "completed" });
    expect(events).toEqual(names);
    expect((await chat.history()).slice(2, -1).map(brief)).toEqual(
      names.map((name) => `${name} → ${name} read`),
    );
  });

  it("an answer that is delivered often runs the call once", async () => {
    const { chat, paused, done } = await pausedTurn();
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, () => chat.answer(paused.invocation_id, { decision: "approve" })),
    );
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const end of ends) {
      if (end.status === "rejected")
        expect(end.reason).toMatchObject({ name: "GraphError", code: "suspension_record_invalid" });
    }
    expect(done).toEqual(["sent to bob"]);
  });
});

describe("another turn while one waits", () => {
  it("keeps all in the order of its arrival, and each turn's prompt is one that providers take", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(
      says("Shall I?", sendTo("a", "bob")),
      says("It is noon.", sendTo("a", "eve")),
      says("Sent to Bob."),
      says("Not sent to Eve."),
      says("You are welcome."),
    );
    const chat = converse({ model: script.model, tools });
    const bob = await chat.send("mail bob");
    const eve = await chat.send("mail eve");
    expect(script.prompts()[1]).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      {
        role: "tool",
        content: [
          { toolCallId: "call00001", output: { value: expect.stringContaining("waiting_for_approval") } },
        ],
      },
      { role: "user", content: [{ text: "mail eve" }] },
    ]);
    await chat.answer(bob.invocation_id, { decision: "approve" });
    await chat.answer(eve.invocation_id, { decision: "reject" });
    await chat.send("thanks");
    expect((await chat.history()).map((message) => brief(message).replace(/\{.*/, "rejected"))).toEqual([
      "user: mail bob",
      "assistant: Shall I? (a)",
      "user: mail eve",
      "assistant: It is noon. (a~2)",
      "a → sent to bob",
      "assistant: Sent to Bob.",
      "a~2 → rejected",
      "assistant: Not sent to Eve.",
      "user: thanks",
      "assistant: You are welcome.",
    ]);
    expect(script.prompts()[2]?.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(script.prompts()[4]?.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(done).toEqual(["sent to bob"]);
  });

  it("a result that the application sent itself is taken, and the call does not run any more", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(
      says("Shall I?", sendTo("a", "bob")),
      says("By hand, then."),
      says("All is said."),
    );
    const chat = converse({ model: script.model, tools });
    const paused = await chat.send("mail bob");
    await chat.graph.invoke({
      sessionId: "s1",
      initial: { messages: [{ role: "tool", content: "sent by hand", tool_call_id: "a" }] },
    });
    await chat.answer(paused.invocation_id, { decision: "approve" });
    expect(done).toEqual([]);
    expect((await chat.history()).map(brief)).toEqual([
      "user: mail bob",
      "assistant: Shall I? (a)",
      "a → sent by hand",
      "assistant: By hand, then.",
      "assistant: All is said.",
    ]);
  });

  it("a result of a call that nobody made fails the turn and is not kept", async () => {
    const chat = converse({ model: scriptedModel(says("Hello.")).model });
    const stray = { role: "tool" as const, content: "x", tool_call_id: "nope" };
    await expect(
      chat.graph.invoke({ sessionId: "s1", initial: { messages: [stray] } }),
    ).rejects.toMatchObject({
      cause: { name: "ChatModelError", category: "provider_invalid_request" },
    });
    expect(await chat.history()).toEqual([]);
    expect(await chat.send("hello")).toMatchObject({ outcome: "completed" });
  });
});

describe("what was done under an approval is known, whatever comes behind it", () => {
  it("when the model fails: the session has the result, and the next turn's model is told it", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(
      says("Shall I?", sendTo("a", "bob"), look("b")),
      new RangeError("down"),
      says("Yes, it is sent."),
    );
    const chat = converse({ model: script.model, tools, maxRetries: 0 });
    const paused = await chat.send("mail bob");
    await expect(chat.answer(paused.invocation_id, { decision: "approve" })).rejects.toMatchObject({
      cause: { name: "ChatModelError", category: "provider_unavailable" },
    });
    await chat.send("is it sent?");
    expect(done).toEqual(["sent to bob", "looked at inbox"]);
    expect((await chat.history()).map(brief)).toEqual([
      "user: mail bob",
      "assistant: Shall I? (a, b)",
      "a → sent to bob",
      "b → inbox: 2 mails",
      "user: is it sent?",
      "assistant: Yes, it is sent.",
    ]);
    expect(script.prompts()[2]?.[2]).toMatchObject({
      content: [{ output: { value: "sent to bob" } }, { output: { value: "inbox: 2 mails" } }],
    });
  });

  it("when the resumed run is cut off: resumed again, it does not run the call again", async () => {
    const { done, tools } = mailTools();
    const store = createMemoryStore();
    const asked = createDeferred<void>();
    const script = scriptedModel(
      says("Shall I?", sendTo("a", "bob"), look("b")),
      () => {
        asked.resolve();
        return new Promise<never>(() => {});
      },
      says("Sent."),
    );
    const chat = converse({ model: script.model, tools }, store);
    const paused = await chat.send("mail bob");
    const abort = new AbortController();
    const cut = chat.answer(paused.invocation_id, { decision: "approve" }, abort.signal);
    await asked.promise;
    abort.abort();
    await expect(cut).rejects.toMatchObject({ cause: { code: "invocation_cancelled" } });
    // Another process, which has other tools of the same names.
    const other = converse({ model: script.model, tools }, store);
    expect(await other.answer(paused.invocation_id, { decision: "approve" })).toMatchObject({
      outcome: "completed",
    });
    expect(done).toEqual(["sent to bob", "looked at inbox"]);
    expect((await chat.history()).map(brief).slice(2)).toEqual([
      "a → sent to bob",
      "b → inbox: 2 mails",
      "assistant: Sent.",
    ]);
  });

  it("when it is cancelled while it runs: it is not run again, and the model is told that nobody knows", async () => {
    const called = createDeferred<void>();
    let calls = 0;
    const send = tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: () => {
        calls++;
        called.resolve();
        return new Promise<unknown>(() => {});
      },
    });
    const script = scriptedModel(
      says("Shall I?", sendTo("a", "bob")),
      says("I do not know whether it was sent."),
    );
    const chat = converse({ model: script.model, tools: { send } });
    const paused = await chat.send("mail bob");
    const abort = new AbortController();
    const cut = chat.answer(paused.invocation_id, { decision: "approve" }, abort.signal);
    await called.promise;
    abort.abort();
    await expect(cut).rejects.toMatchObject({ code: "invocation_cancelled" });
    expect(await chat.answer(paused.invocation_id, { decision: "reject" })).toMatchObject({
      outcome: "completed",
    });
    expect(calls).toBe(1);
    expect(await firstFailure(chat)).toMatchObject({
      status: "failed",
      code: "tool_cancelled",
    });
  });

  it("when its process dies while it runs: another one does not run it again, and tells the model", async () => {
    const { chat, paused, store } = await pausedTurn();
    const dead: GraphStore = {
      ...store,
      // What a process does that dies while the tool runs: nothing of it is stored any more.
      commit: async (batch) => {
        if (batch.session?.changes.lists.messages !== undefined || batch.suspension !== undefined) {
          throw new StoreError("store_failed", "the process is dead");
        }
        return store.commit(batch);
      },
    };
    const { done, tools } = mailTools();
    const dying = converse({ model: scriptedModel(says("Sent.")).model, tools }, dead);
    await expect(dying.answer(paused.invocation_id, { decision: "approve" })).rejects.toMatchObject({
      name: "GraphError",
    });
    expect(done).toEqual(["sent to bob"]);
    const after = mailTools();
    const script = scriptedModel(says("I do not know whether it was sent."));
    const other = converse({ model: script.model, tools: after.tools }, store);
    expect(await other.answer(paused.invocation_id, { decision: "approve" })).toMatchObject({
      outcome: "completed",
    });
    expect(after.done).toEqual([]);
    expect(await firstFailure(chat)).toMatchObject({
      code: "tool_interrupted",
    });
  });

  it("a process that has not the tool says so to the model", async () => {
    const { paused, store } = await pausedTurn();
    const other = converse({ model: scriptedModel(says("I cannot.")).model }, store);
    await other.answer(paused.invocation_id, { decision: "approve" });
    expect(await firstFailure(other)).toMatchObject({
      status: "not_run",
      code: "unknown_tool",
    });
  });
});

describe("what a payload cannot do", () => {
  it("make another call of the one that waits, or run one that was run", async () => {
    const { done, tools } = mailTools();
    const script = scriptedModel(says("", look("a"), sendTo("b", "bob")), says("Done."));
    const chat = converse({ model: script.model, tools });
    const paused = await chat.send("go");
    const call = { id: "b", name: "send", arguments: { to: "mallory" } };
    const signalPayload = {
      ...toApprovalPayload({ decision: "approve" }),
      queue: [
        { id: "a", problem: null, call },
        { id: "never", problem: null, call },
      ],
      is_kept: false,
    };
    await chat.graph.invoke({ resumeInvocation: paused.invocation_id, signalPayload });
    expect(done).toEqual(["looked at inbox", "sent to bob"]);
  });
});
