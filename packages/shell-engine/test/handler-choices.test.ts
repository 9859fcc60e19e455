import { approvalSubject } from "@harnesskit/protocol/openharness";
import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createShellEngine, type ShellHandlers, type ShellReply } from "../src/index.ts";
import { codeOf, continuationOf, messagesOf, request, say, send } from "./support.ts";

const engineOf = (handlers: ShellHandlers) => {
  const errors: unknown[] = [];
  return { engine: createShellEngine({ handlers, onError: (error) => errors.push(error) }), errors };
};

describe("extensions of a response", () => {
  it("are a handler's own, beside the engine's", async () => {
    const extensions = { "com.example": { theme: "dark", rows: [1] } };
    const { engine } = engineOf({
      intent: ({ intent }) => ({ extensions, ...(intent === "more" && { continueWith: {} }) }),
    });
    const plain = await send(engine, request({ user_intent: "one" }));
    expect(plain.response.extensions).toEqual(extensions);
    const more = await send(engine, request({ user_intent: "more" }));
    expect(more.response.extensions).toEqual({ ...extensions, "dev.harnesskit": expect.any(Object) });
    expect(continuationOf(more).run_id).toMatch(/^run_/);
  });

  it("count towards the size of a response", async () => {
    const { engine, errors } = engineOf({
      intent: () => ({ extensions: { "com.example": "x".repeat(1_048_577) } }),
    });
    expect(codeOf(await send(engine, request()))).toBe("internal_error");
    expect(errors).toEqual([expect.objectContaining({ name: "HandlerFault", code: "response_too_large" })]);
  });
});

describe("a continuation in a handler's own scheme", () => {
  const question = { action_type: "request_approval", payload: { message: "Go on?" } };
  /** A scheme that counts: the token is the run's next step. */
  const counting = () => {
    const seen: unknown[] = [];
    const next = (run: string, step: number): ShellReply => ({
      directives: [say(`${run} ${step}`)],
      continuation: { run_id: run, continuation_token: `step-${step + 1}` },
    });
    const handlers: ShellHandlers = {
      intent: () => next("run_7d2", 0),
      continuation: ({ continuation, run, approval }) => {
        seen.push({ continuation, run, approval });
        const { run_id = "", continuation_token: token } = continuation ?? {};
        return token === undefined ? [say(`${run_id} again`)] : next(run_id, Number(token.slice(5)));
      },
    };
    return { ...engineOf(handlers), seen };
  };

  it.each([
    { run_id: "run_7d2" },
    { sop_id: "onboard" },
    { run_id: "run_7d2", continuation_token: "ctok_aq9" },
  ])("reaches the handler as it came, where only names are there, too: %j", async (continuation) => {
    const { engine, seen } = counting();
    expect(codeOf(await send(engine, request({ continuation })))).toBe("success");
    expect(seen).toEqual([{ continuation, run: undefined, approval: undefined }]);
    const { engine: without } = engineOf({ intent: () => [say("new")] });
    expect(codeOf(await send(without, request({ continuation })))).toBe("invalid_continuation");
  });

  it("brings the user's answer, whose digest the handler compares", async () => {
    const { engine, seen } = counting();
    const approval = { decision: "approved", digest: await digest(approvalSubject(question)) };
    const continuation = { run_id: "run_7d2", continuation_token: "step-4" };
    const extensions = { "dev.harnesskit": { approval } };
    expect(codeOf(await send(engine, request({ continuation, extensions })))).toBe("success");
    expect(seen).toEqual([{ continuation, run: undefined, approval }]);
  });

  it("changes nothing for the engine's own: a forged token is refused, a good one resumes its run", async () => {
    const { engine } = engineOf({
      intent: ({ run }) =>
        run ? [say(`resumed ${JSON.stringify(run.data)}`)] : { continueWith: { data: 5 } },
      continuation: () => [say("own")],
    });
    const good = continuationOf(await send(engine, request()));
    const forged = { continuation_token: `${good.continuation_token}x` };
    expect(codeOf(await send(engine, request({ continuation: forged })))).toBe("invalid_continuation");
    expect(messagesOf(await send(engine, request({ continuation: good })))).toEqual(["resumed 5"]);
    expect(codeOf(await send(engine, request({ continuation: good })))).toBe("continuation_used");
  });

  it("can lead to one of the engine's, which resumes the same handler", async () => {
    const { engine } = engineOf({
      continuation: ({ run }) => (run ? [say(`resumed ${run.id}`)] : { continueWith: { runId: "run_7d2" } }),
    });
    const first = await send(engine, request({ continuation: { run_id: "run_7d2" } }));
    const second = await send(engine, request({ continuation: continuationOf(first) }));
    expect(messagesOf(second)).toEqual(["resumed run_7d2"]);
  });
});
