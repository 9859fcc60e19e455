import { type ActionDirective, approvalSubject } from "@harnesskit/protocol/openharness";
import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createShellEngine, type ShellCall, type ShellEngine, ShellEngineError } from "../src/index.ts";
import { codeOf, continuationOf, messagesOf, request, say, send, TestClock } from "./support.ts";

const question = (amount: number): ActionDirective => ({
  action_type: "request_approval",
  payload: { message: `Pay ${amount}?`, subject: { amount } },
});

/** A payment in three steps: how much, may I, done. */
const paying = (clock = new TestClock(), more: object = {}) => {
  const calls: ShellCall[] = [];
  const engine = createShellEngine({
    handlers: {
      intent: (call) => {
        calls.push(call);
        return [say(call.run?.id ?? "no run")];
      },
      sops: {
        pay: {
          steps: {
            ask: () => ({
              directives: [say("How much?")],
              continueWith: { step: "approve", data: { asked: true } },
            }),
            approve: ({ intent, run }) => {
              if (intent === "later")
                throw new ShellEngineError("bank_closed", "Later.", { retryable: true });
              if (intent === "never") throw new ShellEngineError("no_account", "Never.");
              const amount = Number(intent);
              return {
                directives: [question(amount)],
                continueWith: { step: "end", data: { amount, before: run?.data ?? null } },
              };
            },
            end: ({ approval, run }) => [say(`${approval?.decision} ${JSON.stringify(run?.data)}`)],
          },
        },
      },
    },
    clock,
    ...more,
  });
  return { engine, calls, clock };
};
const start = (engine: ShellEngine) => send(engine, request({ task_hint: { sop_id: "pay" } }));
/** The answer to the question in a response. */
const answer = async (decision: string, asked: ActionDirective | undefined) => ({
  "dev.harnesskit": { approval: { decision, digest: asked && (await digest(approvalSubject(asked))) } },
});
const questionIn = (response: Awaited<ReturnType<typeof send>>) => response.response.action_directives?.[0];

/** Up to the question. */
const asked = async (engine: ShellEngine) => {
  const first = await start(engine);
  return send(engine, request({ continuation: continuationOf(first), user_intent: "5" }));
};

describe("a run of a SOP", () => {
  it("can be refused by the user, in words or by a digest", async () => {
    const { engine } = paying();
    const second = await asked(engine);
    const extensions = { "dev.harnesskit": { approval: { decision: "refused", reason: "too much" } } };
    const third = await send(engine, request({ continuation: continuationOf(second), extensions }));
    expect(messagesOf(third)[0]).toContain("refused");
  });

  it("goes on after an error that is retryable, and is over after another one", async () => {
    const { engine } = paying();
    const continuation = continuationOf(await start(engine));
    const go = async (user_intent: string) =>
      codeOf(await send(engine, request({ continuation, user_intent })));
    expect(await go("later")).toBe("bank_closed");
    expect(await go("never")).toBe("no_account");
    expect(await go("5")).toBe("continuation_used");
  });

  it("that a shell without approvals is in goes on by what its user says", async () => {
    const { engine } = paying();
    const continuation = continuationOf(await start(engine));
    const second = await send(engine, request({ continuation, user_intent: "5" }, { capabilities: {} }));
    expect(second.response.action_directives).toEqual([
      { action_type: "render_message", risk_tier: "safe", payload: { message: "Pay 5?", text: "Pay 5?" } },
    ]);
    const third = await send(engine, request({ continuation: continuationOf(second), user_intent: "yes" }));
    expect(messagesOf(third)[0]).toContain("undefined");
  });
});

describe("a continuation token", () => {
  it("is good once; of two shells that answer one approval exactly one is heard", async () => {
    const { engine } = paying();
    const second = await asked(engine);
    const continuation = continuationOf(second);
    const yes = await answer("approved", questionIn(second));
    const no = await answer("refused", questionIn(second));
    const both = await Promise.all(
      [yes, no].map((extensions) => send(engine, request({ continuation, extensions }))),
    );
    expect(both.map(codeOf).sort()).toEqual(["continuation_used", "success"]);
    expect(both.find((one) => codeOf(one) !== "success")?.response.error?.retryable).toBe(false);
  });

  it("that was used by a request is not held against its retry", async () => {
    const { engine, clock } = paying(undefined, { limits: { continuationMs: 1000 } });
    const continuation = continuationOf(await start(engine));
    const message = request({ continuation, user_intent: "5" }, { request_id: "r1" });
    const first = await send(engine, message);
    clock.move(5000);
    expect((await send(engine, message)).response).toEqual(first.response);
  });

  it("expires", async () => {
    const { engine, clock } = paying(undefined, { limits: { continuationMs: 1000 } });
    const continuation = continuationOf(await start(engine));
    clock.move(1000);
    expect(codeOf(await send(engine, request({ continuation, user_intent: "5" })))).toBe(
      "continuation_expired",
    );
  });

  it("is good for its own user, session, thread, run and SOP alone", async () => {
    const { engine } = paying();
    const continuation = continuationOf(await start(engine));
    const stolen = async (context: object, principal: unknown = "me", payload: object = {}) =>
      codeOf(
        await send(engine, request({ continuation, user_intent: "5", ...context }, {}, payload), {
          principal,
        }),
      );
    expect(await stolen({}, "you")).toBe("invalid_continuation");
    expect(await stolen({}, null)).toBe("invalid_continuation");
    expect(await stolen({}, "me", { auth: { tenant_id: "other" } })).toBe("invalid_continuation");
    expect(await stolen({ session_id: "s2" })).toBe("invalid_continuation");
    expect(await stolen({ conversation_id: "c2" })).toBe("invalid_continuation");
    expect(await stolen({ continuation: { ...continuation, run_id: "run_2" } })).toBe("invalid_continuation");
    expect(await stolen({ continuation: { ...continuation, sop_id: "other" } })).toBe("invalid_continuation");
    expect(await stolen({ task_hint: { sop_id: "other" } })).toBe("invalid_continuation");
    expect(await stolen({})).toBe("success");
  });

  it("that was altered anywhere is refused, and so is one of another engine and one that is none", async () => {
    const { engine } = paying();
    const { continuation_token: token = "" } = continuationOf(await start(engine));
    const codes = new Set<string>();
    const tryOne = async (continuation_token: string) => {
      codes.add(
        codeOf(await send(engine, request({ continuation: { continuation_token }, user_intent: "5" }))),
      );
    };
    for (let at = 0; at < token.length; at += 3) {
      const other = token[at] === "A" ? "B" : "A";
      await tryOne(`${token.slice(0, at)}${other}${token.slice(at + 1)}`);
    }
    const [kind = "", body = "", mac = ""] = token.split(".");
    const open = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...open, expiresAtMs: 1e15 })).toString("base64url");
    const foreign = continuationOf(await start(paying().engine)).continuation_token ?? "";
    for (const none of [
      "",
      ".",
      "..",
      "hk1..",
      `${token}.`,
      `${token}=`,
      `${kind}.${forged}.${mac}`,
      `${kind}.${body}.`,
      `${kind}.${body}`,
      token.slice(0, -1),
      `${token}A`,
      "x".repeat(100_000),
      "\ud800",
      foreign,
    ]) {
      await tryOne(none);
    }
    expect([...codes]).toEqual(["invalid_continuation"]);
    await expect(
      send(engine, request({ continuation: { continuation_token: token }, user_intent: "5" })).then(codeOf),
    ).resolves.toBe("success");
  });

  it("says nothing of who it is for, and nothing of what the run left", async () => {
    const { engine } = paying();
    const response = await send(engine, request({ task_hint: { sop_id: "pay" } }), {
      principal: "zoe@example",
    });
    const { continuation_token: token = "" } = continuationOf(response);
    const read = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    expect(read).toContain('"session":"s1"');
    for (const secret of ["zoe", "asked"]) expect(read).not.toContain(secret);
  });

  it("outlives the engine with a key and a store of one's own", async () => {
    const continuationKey = new Uint8Array(32).fill(7);
    const clock = new TestClock();
    const engine = () =>
      createShellEngine({
        handlers: {
          intent: ({ run }) => ({ directives: [say(run?.id ?? "none")], continueWith: { runId: "r" } }),
        },
        continuationKey,
        clock,
      });
    const continuation = continuationOf(await send(engine(), request()));
    expect(messagesOf(await send(engine(), request({ continuation })))).toEqual(["r"]);
  });

  it("whose data are gone is expired; where no more can be known to be used, none is", async () => {
    const { engine } = paying(undefined, { limits: { maxRuns: 1, maxUsedContinuations: 1 } });
    const [old, young] = [continuationOf(await start(engine)), continuationOf(await start(engine))];
    const go = async (continuation: object) =>
      (await send(engine, request({ continuation, user_intent: "5" }))).response;
    expect((await go(old)).error).toMatchObject({ code: "continuation_expired" });
    expect((await go(young)).error).toMatchObject({ code: "engine_overloaded", retryable: true });
  });
});

it("an answer to an approval is good for exactly what was asked; another one uses nothing up", async () => {
  const { engine } = paying();
  const second = await asked(engine);
  const continuation = continuationOf(second);
  const go = async (extensions: object, more: object = { continuation }) =>
    codeOf(await send(engine, request({ ...more, extensions })));
  expect(await go(await answer("approved", question(500)))).toBe("approval_mismatch");
  expect(await go(await answer("approved", undefined))).toBe("approval_mismatch");
  expect(await go(await answer("refused", question(500)))).toBe("approval_mismatch");
  expect(await go(await answer("approved", questionIn(second)), {})).toBe("approval_mismatch");
  const first = continuationOf(await start(engine));
  expect(await go(await answer("approved", questionIn(second)), { continuation: first })).toBe(
    "approval_mismatch",
  );
  expect(await go(await answer("approved", questionIn(second)))).toBe("success");
});
