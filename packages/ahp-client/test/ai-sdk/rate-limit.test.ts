import type { AhpHandlers } from "@harnesskit/ahp-server";
import { createManualClock } from "@harnesskit/wire/testing";
import { APICallError, generateText, streamText } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { superviseModel } from "../../src/ai-sdk/index.ts";
import type { SupervisionOptions } from "../../src/index.ts";
import { startHarness } from "./in-process.ts";
import { rejection, scripted, type Turn, tooMany } from "./models.ts";

/** A timer that is due at once, and cannot be taken back. */
const instantly = (run: () => void) => {
  queueMicrotask(run);
  return () => {};
};

const start = async (rateLimit: AhpHandlers["rate_limit"], options: SupervisionOptions, ...turns: Turn[]) => {
  const harness = await startHarness(rateLimit ? { rate_limit: rateLimit } : {});
  const clock = createManualClock();
  const { model, calls } = scripted(...turns);
  return {
    ...harness,
    clock,
    calls,
    model: superviseModel(model, harness.client, { clock, ...options }),
  };
};

describe("a model whose provider limits the rate", () => {
  it("is tried again when the harness says so, after the time that it says, judged anew", async () => {
    const { model, clock, calls, types, of, settled } = await start(
      () => ({ decision: "retry", retry_after_ms: 2000 }),
      {},
      tooMany({ "retry-after": "7" }),
      { text: "at last" },
    );
    const result = generateText({ model, prompt: "hi", maxRetries: 0 });
    await expect.poll(() => clock.pending).toBe(1);
    expect(of("rate_limit")).toEqual([
      {
        session_id: "sess-abc",
        limit_type: "llm_request_limit",
        retry_after_ms: 7000,
        current_usage: "HTTP 429 at attempt 1 of 3",
      },
    ]);
    clock.advance(1999);
    expect(calls).toHaveLength(1);
    clock.advance(1);
    expect((await result).text).toBe("at last");
    await settled();
    expect(types()).toEqual(["pre_prompt", "rate_limit", "pre_prompt", "post_response"]);
    expect(of("post_response")).toMatchObject([{ outcome: "success", text: "at last", duration_ms: 2000 }]);
  });

  it("streams after another attempt as well", async () => {
    const { model, of, settled } = await start(
      () => ({ decision: "retry", retry_after_ms: 0 }),
      {
        clock: { ...createManualClock(), after: (_ms, run) => instantly(run) },
      },
      tooMany(),
      { text: "at last" },
    );
    expect(await streamText({ model, prompt: "hi" }).text).toBe("at last");
    await settled();
    expect(of("post_response")).toMatchObject([{ outcome: "success" }]);
  });

  it("fails when the harness says skip, and the SDK does not try again", async () => {
    const { model, calls, of, settled } = await start(
      () => ({ decision: "skip", reason: "over budget" }),
      {},
      tooMany({ "retry-after-ms": "1500", "x-ratelimit-remaining-tokens": "0" }),
    );
    const error = await rejection(generateText({ model, prompt: "hi" }));
    expect(error).toMatchObject({
      name: "SupervisionError",
      code: "rate_limited",
      reason: "over budget",
      eventType: "rate_limit",
      retryAfterMs: 1500,
    });
    expect(APICallError.isInstance(error.cause)).toBe(true);
    await settled();
    expect(calls).toHaveLength(1);
    expect(of("rate_limit")).toMatchObject([{ retry_after_ms: 1500, limit_type: "llm_token_limit" }]);
    expect(of("post_response")).toMatchObject([{ outcome: "error", error: { code: "rate_limited" } }]);
  });

  it("fails when the harness fails, or says nothing", async () => {
    const failing = await start(() => Promise.reject(new Error("down")), {}, tooMany());
    expect(await rejection(generateText({ model: failing.model, prompt: "hi" }))).toMatchObject({
      code: "rate_limited",
      failure: "harness_error",
    });
    const wrong = await start(() => ({ decision: "allow" }) as never, {}, tooMany());
    expect(await rejection(generateText({ model: wrong.model, prompt: "hi" }))).toMatchObject({
      code: "rate_limited",
    });
    expect([failing.calls.length, wrong.calls.length]).toEqual([1, 1]);
  });

  it("fails after so many attempts, and rather than wait too long", async () => {
    const instant = {
      ...createManualClock(),
      after: (_ms: number, run: () => void) => instantly(run),
    };
    const often = await start(
      () => ({ decision: "retry", retry_after_ms: 1 }),
      { clock: instant },
      tooMany(),
      tooMany(),
      tooMany(),
    );
    expect(await rejection(generateText({ model: often.model, prompt: "hi" }))).toMatchObject({
      code: "rate_limited",
      reason: "maxRateLimitAttempts of 3 is reached",
    });
    expect(often.calls).toHaveLength(3);
    expect(often.of("rate_limit").map(({ retry_after_ms: ms }) => ms)).toEqual([1000, 2000, 4000]);
    const long = await start(() => ({ decision: "retry", retry_after_ms: 60_001 }), {}, tooMany());
    expect(await rejection(generateText({ model: long.model, prompt: "hi" }))).toMatchObject({
      code: "rate_limited",
      reason: "maxRateLimitWaitMs of 60000 is reached",
      retryAfterMs: 60_001,
    });
  });

  it("keeps the provider's error, for the SDK to try again, where the harness does not decide rate limits", async () => {
    const { model, types, settled } = await start(undefined, {}, tooMany());
    const error = await rejection(generateText({ model, prompt: "hi", maxRetries: 0 }));
    expect(APICallError.isInstance(error)).toBe(true);
    await settled();
    expect(types()).toEqual(["pre_prompt", "post_response"]);
  });

  it("reads the time to wait in every form that providers use", async () => {
    const now = createManualClock().now();
    const forms: [Record<string, string>, number][] = [
      [{ "retry-after": "0" }, 0],
      [{ "retry-after": "1.5" }, 1500],
      [{ "retry-after": new Date(now + 90_000).toUTCString() }, 90_000],
      [{ "retry-after": new Date(now - 90_000).toUTCString() }, 0],
      [{ "retry-after": "soon" }, 1000],
      [{ "retry-after": "" }, 1000],
      [{ "retry-after-ms": "20", "retry-after": "9" }, 20],
      [{ "retry-after-ms": "x", "retry-after": "9" }, 9000],
      [{ "retry-after": "1e300" }, Number.MAX_SAFE_INTEGER],
    ];
    for (const [headers, expected] of forms) {
      const { model, of } = await start(() => ({ decision: "skip", reason: "no" }), {}, tooMany(headers));
      await rejection(generateText({ model, prompt: "hi" }));
      expect([headers, of("rate_limit")[0].retry_after_ms]).toEqual([headers, expected]);
    }
  });

  it("has queued requests tried one after the other, in their order, and only so many", async () => {
    const harness = await startHarness({ rate_limit: () => ({ decision: "queue" }) });
    const clock = createManualClock();
    const begun: string[] = [];
    let running = 0;
    let most = 0;
    const limited = new Set<string>();
    const { error: limit } = tooMany({ "retry-after": "1" }) as { error: Error };
    const model = superviseModel(
      new MockLanguageModelV3({
        async doGenerate({ prompt }) {
          const [{ content }] = prompt as any;
          if (!limited.has(content)) {
            limited.add(content);
            throw limit;
          }
          begun.push(content);
          most = Math.max(most, ++running);
          await Promise.resolve();
          running--;
          return {
            content: [],
            finishReason: { unified: "stop", raw: undefined },
            usage: { inputTokens: {} as any, outputTokens: {} as any },
            warnings: [],
          };
        },
      }),
      harness.client,
      { clock, limits: { maxQueued: 2 } },
    );
    const abort = new AbortController();
    const ask = async (content: string, abortSignal?: AbortSignal) =>
      model.doGenerate({ prompt: [{ role: "system", content }], ...(abortSignal && { abortSignal }) });
    const waitFor = (count: number) => expect.poll(() => harness.of("rate_limit").length).toBe(count);
    const first = ask("first");
    await waitFor(1);
    await expect.poll(() => clock.pending).toBe(1);
    const second = ask("second");
    await waitFor(2);
    await harness.settled();
    const given = rejection(ask("given up", abort.signal));
    await waitFor(3);
    await harness.settled();
    expect(await rejection(ask("one more"))).toMatchObject({
      code: "rate_limited",
      cause: { code: "buffer_full" },
    });
    abort.abort();
    expect(await given).toBe(abort.signal.reason);
    const third = ask("third");
    await waitFor(5);
    await harness.settled();
    expect(clock.pending).toBe(1);
    clock.advance(1000);
    await first;
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(1000);
    await second;
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(1000);
    await third;
    expect(begun).toEqual(["first", "second", "third"]);
    expect(most).toBe(1);
  });
});
