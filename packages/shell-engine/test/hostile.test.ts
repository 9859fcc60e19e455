import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { ContinuationClaim, ContinuationStore } from "../src/continuation-store.ts";
import {
  createShellEngine,
  type ShellCall,
  ShellEngineError,
  type ShellEngineOptions,
} from "../src/index.ts";
import { codeOf, continuationOf, request, say, send, TestClock } from "./support.ts";

const engineOf = (intent: (call: ShellCall) => unknown, options: Partial<ShellEngineOptions> = {}) => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  return {
    engine: createShellEngine({ handlers: { intent: intent as never }, onError, ...options }),
    errors,
  };
};

describe("a handler", () => {
  it.each([
    { runId: 5 },
    { runId: "" },
    { runId: "x".repeat(513) },
    { data: 5n },
    { data: () => 1 },
    "next",
    true,
  ])("cannot go on with %o", async (continueWith) => {
    const { engine, errors } = engineOf(() => ({ continueWith }));
    expect(codeOf(await send(engine, request()))).toBe("internal_error");
    expect(errors).toEqual([expect.objectContaining({ name: "HandlerFault", code: "invalid_reply" })]);
  });
});

describe("what is not to be shown", () => {
  const failing = () =>
    engineOf(({ environment }) => {
      throw new ShellEngineError("failed", `The pin is ${environment?.pin}.`);
    }).engine;

  it("is not shown because there is so much of it", async () => {
    const many = Array.from({ length: 5000 }, (_none, index) => [`k${index}`, `filler ${index}`]);
    const environment_state = { privacy_tier: "secret", ...Object.fromEntries(many), pin: "hunter2" };
    const { error } = (await send(failing(), request({ environment_state }))).response;
    expect(error).toMatchObject({ code: "failed", message: "[removed]" });
  });
});

it("an engine that is closed while a continuation is claimed begins no handler, and gives the continuation back", async () => {
  const claimed = createDeferred<ContinuationClaim>();
  const released = createDeferred<string>();
  const continuations: ContinuationStore = {
    keep: () => {},
    claim: () => claimed.promise,
    release: (id) => released.resolve(id),
  };
  let calls = 0;
  const { engine } = engineOf(
    () => {
      calls++;
      return { continueWith: {} };
    },
    { continuations, createId: (kind) => `${kind}1` },
  );
  const continuation = continuationOf(await send(engine, request()));
  const response = send(engine, request({ continuation }));
  while (engine.stats().inFlight === 0) await new Promise(setImmediate);
  await engine.close();
  expect(codeOf(await response)).toBe("cancelled");
  claimed.resolve({ status: "claimed" });
  expect(await released.promise).toBe("cont1");
  expect(calls).toBe(1);
});

describe("ids", () => {
  it.each(["tenant_id", "credential_ref"])(
    "in auth that nobody checks are not kept at any length: %s",
    async (name) => {
      const auth = { [name]: "x".repeat(513) };
      const { engine } = engineOf(() => []);
      const { response } = await send(engine, request({}, {}, { auth }));
      expect(response.error).toMatchObject({
        code: "invalid_request",
        details: { reason: "id_too_long", path: name },
      });
      const checked = engineOf(() => [], { authenticate: () => ({ principal: "me" }) }).engine;
      expect(codeOf(await send(checked, request({}, {}, { auth })))).toBe("success");
    },
  );

  it("count for what may be remembered", async () => {
    const { engine } = engineOf(() => [], { limits: { maxRememberedLength: 10_000 } });
    for (let i = 0; i < 100; i++) {
      await send(engine, request({ session_id: "s".repeat(500) }, { request_id: `${"r".repeat(500)}${i}` }));
    }
    expect(engine.stats().rememberedRequests).toBeLessThan(10);
  });

  it("as long as they may be still fit into a continuation, whatever they are made of", async () => {
    for (const character of ["\u0001", "\ud800", "漢"]) {
      const id = character.repeat(512);
      const { engine } = engineOf(() => [], {
        handlers: { businessKey: () => () => ({ continueWith: { runId: id } }) },
      });
      const context = { session_id: id, conversation_id: id, task_hint: { business_key: id } };
      const continuation = continuationOf(await send(engine, request(context)));
      expect(codeOf(await send(engine, request({ ...context, continuation })))).toBe("success");
    }
  });

  it("that are the same in UTF-8 alone are others", async () => {
    const { engine } = engineOf(() => ({ continueWith: {} }));
    const continuation = continuationOf(await send(engine, request(), { principal: "a\ud800" }));
    for (const principal of ["a\ud801", "a\ufffd"]) {
      expect(codeOf(await send(engine, request({ continuation }), { principal }))).toBe(
        "invalid_continuation",
      );
    }
    expect(codeOf(await send(engine, request({ continuation }), { principal: "a\ud800" }))).toBe("success");
  });
});

describe("continuations of one process", () => {
  const limits = { maxRuns: 3 };
  const running = (more: object = {}) =>
    engineOf(({ run }) => (run ? [say("done")] : { continueWith: { data: { kept: 1 } } }), {
      limits,
      ...more,
    }).engine;

  it("are not lost because many others were used", async () => {
    const engine = running();
    const first = continuationOf(await send(engine, request()));
    for (let i = 0; i < 5; i++) {
      const continuation = continuationOf(await send(engine, request()));
      expect(codeOf(await send(engine, request({ continuation })))).toBe("success");
    }
    expect(codeOf(await send(engine, request({ continuation: first })))).toBe("success");
  });

  it("that were used and forgotten are not good again when the clock goes back", async () => {
    const clock = new TestClock();
    const engine = running({ clock, limits: { maxUsedContinuations: 1, continuationMs: 1000 } });
    const use = async (continuation: object) => codeOf(await send(engine, request({ continuation })));
    const used = continuationOf(await send(engine, request()));
    expect(await use(used)).toBe("success");
    clock.move(2000);
    expect(await use(continuationOf(await send(engine, request())))).toBe("success");
    clock.move(-2000);
    expect(await use(used)).toBe("continuation_used");
  });
});
