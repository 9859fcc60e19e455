import { createDeferred, HarnessError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { APICallError, JSONParseError, TypeValidationError } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { type AiSdkRunnerOptions, createAiSdkRunner } from "../src/ai-sdk/index.ts";
import { createThreadServer } from "../src/index.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { finish, type Part, text } from "./support/scripted-model.ts";

const begun: Part[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Half an ans" },
];
const whole: Part[] = [...begun.slice(0, 1), ...text("Whole."), finish()];
const cut = new APICallError({
  message: "socket hang up",
  url: "http://x/",
  requestBodyValues: {},
  isRetryable: true,
});

/** A model with one stream a request: parts, then an end, an error or silence. */
const streaming = (...streams: { parts: Part[]; end?: "close" | "cut" | "silent" }[]) => {
  const silent = createDeferred<void>();
  const prompts: unknown[] = [];
  /** Whether the request before this one was aborted when this one came. */
  const stopped: (boolean | undefined)[] = [];
  let last: AbortSignal | undefined;
  const model = new MockLanguageModelV3({
    async doStream({ prompt, abortSignal }) {
      stopped.push(last?.aborted);
      last = abortSignal;
      const { parts, end = "close" } = streams[prompts.length] ?? { parts: whole };
      prompts.push(prompt);
      let index = 0;
      const stream = new ReadableStream<Part>({
        pull(controller) {
          const part = parts[index++];
          if (part) controller.enqueue(part);
          else if (end === "close") controller.close();
          else if (end === "cut") controller.error(cut);
          else {
            silent.resolve();
            return new Promise(() => {});
          }
          return undefined;
        },
      });
      return { stream };
    },
  });
  return { model, prompts, stopped, silent: silent.promise };
};

const start = async (model: AiSdkRunnerOptions["model"], more: Partial<AiSdkRunnerOptions> = {}) => {
  const server = createThreadServer({ runner: createAiSdkRunner({ model, maxRetries: 0, ...more }) });
  const client = RawClient.connect(server);
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  return { server, client, threadId, turnId: result.turnId as string };
};

describe("a model's stream", () => {
  it("that breaks off after it has begun is asked for once more, without what it had said", async () => {
    const { model, prompts } = streaming({ parts: begun, end: "cut" });
    const { client, threadId, turnId } = await start(model);
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(prompts[1]).toEqual(prompts[0]);
    const events = await client.events(threadId);
    expect(ofType(events, "turn.resumed")).toMatchObject([{ data: { step: 0, reason: "model_stream" } }]);
    await client.runTurn(threadId, "and now");
    expect(JSON.stringify(prompts[2])).toContain("Whole.");
    expect(JSON.stringify(prompts[2])).not.toContain("Half");
  });

  it("that breaks off twice ends the turn as model_stream_broken", async () => {
    const broken = { parts: begun, end: "cut" } as const;
    const { model, prompts } = streaming(broken, broken);
    const { client, turnId } = await start(model);
    const { method, params } = await client.turnEnd(turnId);
    expect(method).toBe("turn.error");
    expect(params).toMatchObject({
      code: "model_stream_broken",
      error: expect.stringContaining("socket hang up"),
    });
    expect(prompts).toHaveLength(2);
  });

  it.each([
    ["a chunk that is no JSON", new JSONParseError({ text: "{", cause: null })],
    ["a chunk of another form", new TypeValidationError({ value: { detail: "x" }, cause: null })],
    ["a timeout", { type: "error", error: { type: "timeout_error", message: "timed out" } }],
    ["an error of ours", new HarnessError("connection_closed", "gone")],
  ])("that ends with %s after it has begun is asked for once more", async (_what, error) => {
    const { model, prompts } = streaming({ parts: [...begun, { type: "error", error }, finish("error")] });
    const { client, turnId } = await start(model);
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(prompts).toHaveLength(2);
  });

  it.each([
    ["after it has begun", begun],
    ["before its first word", begun.slice(0, 1)],
  ])("that falls silent %s is asked for once more", async (_when, parts) => {
    const { model, silent, stopped } = streaming({ parts, end: "silent" });
    const clock = createManualClock();
    const { client, turnId } = await start(model, { clock, idleTimeoutMs: 1000 });
    await silent;
    if (parts === begun) await client.notification("item.delta");
    clock.advance(1000);
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(stopped).toEqual([undefined, true]);
  });

  it("that falls silent twice ends the turn as model_silent", async () => {
    const quiet = { parts: begun, end: "silent" } as const;
    const { model } = streaming(quiet, quiet);
    const clock = createManualClock();
    const { client, turnId } = await start(model, { clock, idleTimeoutMs: 1000 });
    for (const deltas of [1, 2]) {
      await client.until(() => client.all("item.delta").length === deltas);
      clock.advance(1000);
    }
    expect((await client.turnEnd(turnId)).params).toMatchObject({ code: "model_silent" });
  });

  it("is not silent while the machine sleeps", async () => {
    const manual = createManualClock();
    let sleptMs = 0;
    const clock = { ...manual, elapsedMs: () => manual.elapsedMs() + sleptMs };
    const [asked, last] = [createDeferred<void>(), createDeferred<void>()];
    const parts = [...whole];
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: new ReadableStream<Part>({
          async pull(controller) {
            const part = parts.shift();
            if (part?.type === "text-end") {
              asked.resolve();
              await last.promise;
            }
            if (part) controller.enqueue(part);
            else controller.close();
          },
        }),
      }),
    });
    const { client, turnId } = await start(model, { clock, idleTimeoutMs: 30_000 });
    await asked.promise;
    sleptMs += 3_600_000;
    manual.advance(30_000);
    last.resolve();
    expect((await client.turnEnd(turnId)).params.status).toBe("completed");
    expect(client.all("turn.resumed")).toEqual([]);
  });
});
