import { createMemoryStore } from "@harnesskit/graph";
import { createDeferred, digest } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { APICallError, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { ChatConversations } from "../src/index.ts";
import { says } from "./support/scripted-model.ts";
import { askedIn, codeOf, directivesOf, mailTools, sendTo, serve, shown, start } from "./support/started.ts";

const askBob = says("Shall I?", sendTo("a", "bob"));

/** The card of a call that was refused. */
const refusal = (reason = "", why = "The user rejected this call"): string =>
  `[send was not run: ${JSON.stringify({ text: `${why}, and it was not run.${reason}` })}]`;
const nobodyAsked = refusal(
  " The reason: The user's shell cannot ask for approvals.",
  "No user could be asked to approve this call",
);

describe("a turn that waits for an approval", () => {
  it("asks the shell, with the tool, its input and a continuation of its own", async () => {
    await using chat = await start([askBob]);
    const response = await chat.say("mail bob");
    expect(shown(response)).toEqual(["Shall I?", "request_approval: Run send?"]);
    const { directive, continuation } = askedIn(response);
    const { suspended } = await chat.harness.pending();
    const [{ invocation_id: id, signal_descriptor } = { invocation_id: "", signal_descriptor: undefined }] =
      suspended;
    expect(directive).toMatchObject({
      risk_tier: "caution",
      payload: {
        message: "The tool send waits for your approval.",
        subject: {
          tool: "send",
          input: { to: "bob" },
          digest: await digest({ tool: "send", input: { to: "bob" } }),
          signal_id: signal_descriptor?.signal_id,
        },
      },
    });
    expect(continuation).toMatchObject({ run_id: id, continuation_token: expect.any(String) });
    expect(chat.done).toEqual([]);
  });

  it("runs the call once it is approved, and tells how it went on", async () => {
    await using chat = await start([askBob, says("Sent."), says("Again?")]);
    const asked = askedIn(await chat.say("mail bob"));
    const response = await chat.answer(asked, "approved");
    expect(shown(response)).toEqual(['[send, 1 line ▸: {"text":"sent to bob"}]', "Sent."]);
    expect(chat.done).toEqual(["sent to bob"]);
    expect(codeOf(await chat.answer(asked, "approved"))).toBe("continuation_used");
    expect(chat.done).toEqual(["sent to bob"]);
    // It was told, and nobody is told again.
    await expect.poll(async () => (await chat.harness.pending()).undelivered).toEqual([]);
    expect(shown(await chat.say("and now?"))).toEqual(["Again?"]);
  });

  it("rejects the call where the user refuses, with the reason", async () => {
    await using chat = await start([askBob, says("Then not.")]);
    const response = await chat.answer(askedIn(await chat.say("mail bob")), "refused", " Bob has left. ");
    expect(shown(response)).toEqual([refusal(" The reason: Bob has left."), "Then not."]);
    expect(chat.done).toEqual([]);
    expect(JSON.stringify(chat.script.prompts()[1]?.at(-1))).toContain("The reason: Bob has left.");
  });

  it("asks again where the resumed turn waits again, and shows nothing twice", async () => {
    await using chat = await start([
      askBob,
      says("And Eve?", sendTo("b", "eve")),
      says("And Zoe?", sendTo("c", "zoe")),
      says("All done."),
    ]);
    const second = await chat.answer(askedIn(await chat.say("mail all")), "approved");
    expect(shown(second)).toEqual([
      '[send, 1 line ▸: {"text":"sent to bob"}]',
      "And Eve?",
      "request_approval: Run send?",
    ]);
    // Asked once more, and answered from there, the turn goes on all the same.
    const again = await chat.post({});
    expect(shown(again)).toEqual(["request_approval: Run send?"]);
    const third = await chat.answer(askedIn(again), "approved");
    expect(shown(third)).toEqual([
      '[send, 1 line ▸: {"text":"sent to eve"}]',
      "And Zoe?",
      "request_approval: Run send?",
    ]);
    const last = await chat.answer(askedIn(third), "refused");
    expect(shown(last)).toEqual([refusal(), "All done."]);
    expect(chat.done).toEqual(["sent to bob", "sent to eve"]);
    expect(codeOf(await chat.answer(askedIn(second), "approved"))).toBe("continuation_used");
    expect(chat.done).toEqual(["sent to bob", "sent to eve"]);
  });

  it("looks as `describeApproval` says, and is still about the call", async () => {
    await using chat = await start([askBob], {
      describeApproval: ({ tool: name }) => ({
        title: `A mail \u202eby ${name}`,
        message: "It leaves the house.",
        riskTier: "dangerous",
      }),
    });
    expect(askedIn(await chat.say("mail bob")).directive).toMatchObject({
      risk_tier: "dangerous",
      payload: {
        title: "A mail ⟨U+202E⟩by send",
        message: "It leaves the house.",
        subject: { tool: "send", input: { to: "bob" } },
      },
    });
  });

  it("waits behind another one of the same conversation", async () => {
    await using chat = await start([
      askBob,
      says("Eve too?", sendTo("b", "eve")),
      says("Eve has it."),
      says("Bob has it."),
    ]);
    await chat.say("mail bob");
    const eve = askedIn(await chat.say("mail eve"));
    expect(eve.directive.payload?.subject).toMatchObject({ input: { to: "eve" } });
    const bob = await chat.answer(eve, "approved");
    expect(shown(bob)).toEqual([
      expect.stringContaining("sent to eve"),
      "Eve has it.",
      "request_approval: Run send?",
    ]);
    const last = await chat.answer(askedIn(bob), "approved");
    expect(shown(last).at(-1)).toBe("Bob has it.");
    expect(chat.done).toEqual(["sent to eve", "sent to bob"]);
  });

  it("is over where going on failed: the call is not run again", async () => {
    const down = new APICallError({
      message: "down",
      url: "http://m",
      requestBodyValues: {},
      statusCode: 503,
    });
    await using chat = await start([askBob, down, says("It was sent.")]);
    const asked = askedIn(await chat.say("mail bob"));
    expect((await chat.answer(asked, "approved")).response.error).toEqual({
      code: "retryable_transient",
      message: "I had trouble responding. Try again in a moment.",
      retryable: false,
      details: { category: "provider_unavailable" },
    });
    expect(codeOf(await chat.answer(asked, "approved"))).toBe("continuation_used");
    expect(chat.done).toEqual(["sent to bob"]);
    expect(await chat.harness.pending()).toEqual({ suspended: [], undelivered: [] });
    expect(shown(await chat.say("was it sent?"))).toEqual(["It was sent."]);
  });

  it("can be answered again where going on failed and it still waits", async () => {
    await using chat = await start([askBob, says("Sent.")]);
    const { harness } = chat;
    const reply = { role: "system", content: "Try again." } as const;
    const turn = { outcome: "errored", error_bucket: "retryable_transient", reply } as const;
    let isFailing = true;
    const failing: ChatConversations = {
      send: (...given) => harness.send(...given),
      pending: (sessionId) => harness.pending(sessionId),
      acknowledge: (id) => harness.acknowledge(id),
      recover: (options) => harness.recover(options),
      signal: async (signal) => {
        if (!isFailing) return harness.signal(signal);
        return { outcome: "resumed", invocation_id: signal.invocationId ?? "", session_id: "s1", turn };
      },
    };
    await using other = await serve(failing);
    const asked = askedIn(await other.say("mail bob"));
    const { error } = (await other.answer(asked, "approved")).response;
    expect(error).toEqual({ code: "retryable_transient", message: "Try again.", retryable: true });
    isFailing = false;
    expect(shown(await other.answer(asked, "approved")).at(-1)).toBe("Sent.");
    expect(chat.done).toEqual(["sent to bob"]);
  });
});

describe("a shell that cannot ask for approvals", () => {
  const plain = { capabilities: { "openharness.ui.rich_cards": true } };

  it("has calls refused in its place, so that the conversation goes on", async () => {
    await using chat = await start([
      askBob,
      says("Eve?", sendTo("b", "eve")),
      says("I cannot."),
      says("Yes?"),
    ]);
    expect(shown(await chat.say("mail bob", plain))).toEqual([
      "Shall I?",
      nobodyAsked,
      "Eve?",
      nobodyAsked,
      "I cannot.",
    ]);
    expect(chat.done).toEqual([]);
    expect(JSON.stringify(chat.script.prompts()[1]?.at(-1))).toContain(
      "No user could be asked to approve this call, and it was not run.",
    );
    await expect.poll(async () => (await chat.harness.pending()).undelivered).toEqual([]);
    expect((await chat.harness.pending()).suspended).toEqual([]);
    expect(shown(await chat.say("hello?", plain))).toEqual(["Yes?"]);
  });

  it("leaves what another shell was asked to that one", async () => {
    await using chat = await start([askBob, says("Noon."), says("Sent.")]);
    const asked = askedIn(await chat.say("mail bob"));
    const meanwhile = await chat.say("what time is it?", plain);
    expect(directivesOf(meanwhile).map(({ action_type }) => action_type)).toEqual(["render_message"]);
    expect(shown(await chat.answer(asked, "approved")).at(-1)).toBe("Sent.");
  });

  it("is told so where the model does not stop asking", async () => {
    const answers = Array.from({ length: 12 }, (_, index) => says("", sendTo(`c${index}`, "bob")));
    await using chat = await start(answers);
    expect((await chat.say("mail bob", plain)).response.error).toMatchObject({
      code: "capability_required",
      retryable: false,
      details: { capability: "openharness.ui.approval" },
    });
    expect(chat.script.asked.length).toBe(11);
    expect(chat.done).toEqual([]);
  });
});

describe("a call that nobody could judge", () => {
  it("is refused where it is too long to be shown", async () => {
    const { tools, done } = mailTools();
    const long = says("", { id: "a", name: "send", input: { to: "b".repeat(300_000) } });
    await using chat = await start([long, says("Too long.")], { tools });
    const [card = "", words] = shown(await chat.say("mail bob"));
    expect(card).toContain("too long to be shown to the user");
    expect(words).toBe("Too long.");
    expect(done).toEqual([]);
    expect(JSON.stringify(chat.script.prompts()[1]?.at(-1))).toMatch(
      /No user could be asked.*too long to be shown/,
    );
  });

  it("is left alone where its digest is of another call", async () => {
    const store = createMemoryStore();
    await using before = await start([askBob], { store });
    await before.say("mail bob");
    const forged: ChatConversations = {
      send: (...given) => before.harness.send(...given),
      signal: (...given) => before.harness.signal(...given),
      acknowledge: (id) => before.harness.acknowledge(id),
      recover: (options) => before.harness.recover(options),
      pending: async (sessionId) => {
        const { suspended, undelivered } = await before.harness.pending(sessionId);
        const turns = suspended.map((turn) => {
          const metadata = { ...turn.signal_descriptor.metadata, input: { to: "mallory" } };
          return { ...turn, signal_descriptor: { ...turn.signal_descriptor, metadata } };
        });
        return { suspended: turns, undelivered };
      },
    };
    await using chat = await serve(forged);
    expect(shown(await chat.post({}))).toEqual([
      "A call waits whose content does not match its digest: it is left alone.",
    ]);
  });
});

it("while an approved call runs, the shell may go away: what came of it is told to the next request", async () => {
  const clock = createManualClock();
  const [begun, finish] = [createDeferred<void>(), createDeferred<void>()];
  const send = tool({
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: async ({ to }) => {
      begun.resolve();
      await finish.promise;
      return `sent to ${to}`;
    },
  });
  await using chat = await start([askBob, says("Sent."), says("Anything else?")], {
    tools: { send, look: mailTools().tools.look as never },
    clock,
  });
  const answering = chat.answer(askedIn(await chat.say("mail bob")), "approved");
  await begun.promise;
  clock.advance(300_000);
  expect(codeOf(await answering)).toBe("engine_timeout");
  finish.resolve();
  await expect.poll(() => chat.engine.stats().inFlight).toBe(0);
  expect((await chat.harness.pending()).undelivered.length).toBe(1);
  const next = await chat.say("and?");
  expect(shown(next)).toEqual([expect.stringContaining("sent to bob"), "Sent.", "Anything else?"]);
  clock.advance(0);
  await expect.poll(async () => (await chat.harness.pending()).undelivered).toEqual([]);
});
