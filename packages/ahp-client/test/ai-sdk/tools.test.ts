import type { AhpHandlers } from "@harnesskit/ahp-server";
import { createDeferred } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { dynamicTool, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { superviseTools } from "../../src/ai-sdk/index.ts";
import type { SupervisionOptions } from "../../src/index.ts";
import { startHarness } from "./in-process.ts";
import { rejection, scripted } from "./models.ts";

/** A tool that notes what it was run with. */
const bash = () => {
  const runs: unknown[] = [];
  return {
    runs,
    tool: tool({
      inputSchema: z.object({ command: z.string(), times: z.number().default(1) }),
      execute: async (input) => {
        runs.push(input);
        return `ran ${input.command}`;
      },
    }),
  };
};

const callOptions = { toolCallId: "c1", messages: [] };

/** One supervised tool, called directly. */
const start = async (handlers: AhpHandlers<unknown>, options: SupervisionOptions = {}) => {
  const harness = await startHarness(handlers);
  const { tool: own, runs } = bash();
  const { bash: supervised } = superviseTools({ bash: own }, harness.client, options);
  const run = (input: unknown = { command: "ls", times: 1 }, more: object = {}) =>
    supervised.execute?.(input as never, { ...callOptions, ...more }) as PromiseLike<unknown>;
  return { ...harness, runs, run, supervised };
};

const modifyTo = (modified: unknown) => () => ({
  decision: "modify" as const,
  modified_payload: modified as never,
});

describe("supervised tools with generateText and streamText", () => {
  it("are judged before they run, with their name and arguments, and reported after", async () => {
    const { client, settled, seen } = await startHarness();
    const { tool: own, runs } = bash();
    const { model } = scripted({ calls: [["bash", { command: "ls" }]] }, { text: "done" });
    const { text } = await generateText({
      model,
      prompt: "go",
      tools: superviseTools({ bash: own }, client),
      stopWhen: stepCountIs(3),
    });
    await settled();
    expect(text).toBe("done");
    expect(runs).toEqual([{ command: "ls", times: 1 }]);
    expect(seen.map(({ type, payload }) => [type, payload])).toEqual([
      [
        "pre_action",
        {
          action_type: "tool_call",
          tool_name: "bash",
          tool_call_id: "call-1-0",
          arguments: { command: "ls", times: 1 },
        },
      ],
      [
        "post_action",
        {
          action_type: "tool_call",
          tool_name: "bash",
          tool_call_id: "call-1-0",
          outcome: "success",
          duration_ms: expect.any(Number),
          result: "ran ls",
        },
      ],
    ]);
  });

  it("that are blocked do not run, and the model is told why", async () => {
    const { client, settled, types } = await startHarness({
      pre_action: () => ({ decision: "block", reason: "not on a Sunday" }),
    });
    const { tool: own, runs } = bash();
    const { model, calls } = scripted({ calls: [["bash", { command: "rm" }]] }, { text: "sorry" });
    const tools = superviseTools({ bash: own }, client);
    const { steps, text } = await generateText({ model, prompt: "go", tools, stopWhen: stepCountIs(3) });
    expect([text, runs]).toEqual(["sorry", []]);
    expect(steps[0]?.content.at(-1)).toMatchObject({
      type: "tool-error",
      error: { name: "SupervisionError", code: "blocked", reason: "not on a Sunday" },
    });
    const value = expect.stringMatching(/^(?:SupervisionError: )?Blocked by policy: not on a Sunday$/);
    expect(calls[1]?.prompt.at(-1)?.content).toMatchObject([{ output: { type: "error-text", value } }]);
    await settled();
    expect(types()).not.toContain("post_action");
  });

  it("stream their outputs as before", async () => {
    const { client, settled, of } = await startHarness();
    const count = tool({
      inputSchema: z.object({ to: z.number() }),
      async *execute({ to }) {
        for (let at = 1; at <= to; at++) yield at;
      },
    });
    const { model } = scripted({ calls: [["count", { to: 3 }]] });
    const result = streamText({ model, prompt: "go", tools: superviseTools({ count }, client) });
    const outputs: unknown[] = [];
    for await (const part of result.fullStream) {
      if (part.type === "tool-result") outputs.push([part.output, part.preliminary ?? false]);
    }
    await settled();
    expect(outputs).toEqual([
      [1, true],
      [2, true],
      [3, true],
      [3, false],
    ]);
    expect(of("post_action")).toMatchObject([{ outcome: "success", result: "3" }]);
  });
});

describe("the decision about a tool call", () => {
  it("modify: the arguments are validated, judged again, and what was judged last runs", async () => {
    let asked = 0;
    const { run, runs, settled, of } = await start({
      pre_action: ({ payload }: any) => {
        asked++;
        if (payload.arguments.command === "ls -l") return { decision: "allow" };
        return modifyTo({ tool_name: "bash", arguments: { command: "ls -l", times: 1 } })();
      },
    });
    await expect(run()).resolves.toBe("ran ls -l");
    await settled();
    expect(asked).toBe(2);
    expect(runs).toEqual([{ command: "ls -l", times: 1 }]);
    expect(of("pre_action").map(({ arguments: args }) => args)).toEqual([
      { command: "ls", times: 1 },
      { command: "ls -l", times: 1 },
    ]);
    expect(of("post_action")).toMatchObject([{ arguments_modified: true, outcome: "success" }]);
  });

  it("modify to the same arguments is no new round, however they are written", async () => {
    const { run, runs, of } = await start({
      pre_action: modifyTo({ arguments: { times: 1, command: "ls" } }),
    });
    await run();
    expect(of("pre_action")).toHaveLength(1);
    expect(runs).toEqual([{ command: "ls", times: 1 }]);
    const other = await start({ pre_action: modifyTo({ arguments: { command: "pwd", times: 1 } }) });
    await other.run();
    expect(other.of("pre_action")).toHaveLength(2);
    expect(other.runs).toEqual([{ command: "pwd", times: 1 }]);
  });

  it("ends after so many modifications", async () => {
    let round = 0;
    const { run, runs, of } = await start({
      pre_action: () => modifyTo({ arguments: { command: `${++round}`, times: 1 } })(),
    });
    expect(await rejection(run())).toMatchObject({ code: "too_many_modifications" });
    expect(of("pre_action")).toHaveLength(4);
    expect(runs).toEqual([]);
  });

  it("a JSON Schema without a function to validate is checked all the same", async () => {
    const schema = {
      type: "object" as const,
      properties: { path: { type: "string" as const } },
      required: ["path"],
      additionalProperties: false,
    };
    const runs: unknown[] = [];
    let wanted: unknown = { path: "/tmp" };
    const { client } = await startHarness({
      pre_action: ({ payload }: any) =>
        payload.arguments.path === "/" ? modifyTo({ arguments: wanted })() : { decision: "allow" },
    });
    const read = (inputSchema: any) =>
      superviseTools(
        { read: dynamicTool({ inputSchema, execute: async (input) => runs.push(input) }) },
        client,
      ).read;
    const call = (inputSchema: any) => read(inputSchema).execute?.({ path: "/" }, callOptions);
    await call(jsonSchema(schema));
    expect(runs).toEqual([{ path: "/tmp" }]);
    wanted = { path: "/tmp", mode: "w" };
    expect(await rejection(call(jsonSchema(schema)) as never)).toMatchObject({
      code: "invalid_modification",
    });
    const unknown = jsonSchema({ not: { type: "string" } });
    expect(await rejection(call(unknown) as never)).toMatchObject({ code: "invalid_modification" });
    expect(runs).toHaveLength(1);
  });

  it("defer: is asked again after the time that it says, within bounds", async () => {
    const clock = createManualClock();
    const decisions = [
      { decision: "defer" as const, retry_after_ms: 5000, reason: "busy" },
      { decision: "allow" as const },
    ];
    const { run, runs, of } = await start(
      { pre_action: () => decisions.shift() ?? { decision: "block", reason: "" } },
      { clock },
    );
    const running = run();
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(4999);
    expect(of("pre_action")).toHaveLength(1);
    clock.advance(1);
    await running;
    expect(of("pre_action")).toHaveLength(2);
    expect(runs).toHaveLength(1);
  });

  it("defer: ends as refused when it is too long or too often", async () => {
    const long = await start({
      pre_action: () => ({ decision: "defer", retry_after_ms: 30_001, reason: "night" }),
    });
    expect(await rejection(long.run())).toMatchObject({
      code: "deferred",
      reason: "night",
      retryAfterMs: 30_001,
      message: "Not run, deferred by policy: night",
    });
    const often = await start({ pre_action: () => ({ decision: "defer", retry_after_ms: 0 }) });
    expect(await rejection(often.run())).toMatchObject({ code: "deferred" });
    expect(often.of("pre_action")).toHaveLength(4);
    expect([long.runs, often.runs]).toEqual([[], []]);
  });

  it("is obeyed by a call that was aborted meanwhile: it does not run", async () => {
    const abort = new AbortController();
    const { run, runs } = await start({
      pre_action: () => {
        abort.abort();
        return { decision: "allow" };
      },
    });
    expect(await rejection(run(undefined, { abortSignal: abort.signal }))).toMatchObject({
      code: "cancelled",
    });
    const clock = createManualClock();
    const deferred = await start(
      { pre_action: () => ({ decision: "defer", retry_after_ms: 1000 }) },
      { clock },
    );
    const second = new AbortController();
    const running = rejection(deferred.run(undefined, { abortSignal: second.signal }));
    await expect.poll(() => clock.pending).toBe(1);
    second.abort();
    expect(await running).toMatchObject({ code: "cancelled" });
    expect(clock.pending).toBe(0);
    expect([runs, deferred.runs]).toEqual([[], []]);
  });
});

describe("what runs is what was judged", () => {
  it("also when somebody changes the arguments meanwhile", async () => {
    const input = { command: "ls", times: 1 };
    const { run, runs } = await start({
      pre_action: () => {
        input.command = "rm -rf /";
        return { decision: "allow" };
      },
    });
    await run(input);
    expect(runs).toEqual([{ command: "ls", times: 1 }]);
  });

  it("and arguments that the harness cannot be shown whole do not run", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const cases: unknown[] = [
      { command: "x".repeat(2000) },
      { command: "ä".repeat(800) },
      { a: 1n },
      { a: () => "hidden" },
      { a: new Map([["hidden", 1]]) },
      { a: Number.NaN },
      { a: [undefined] },
      { a: new Uint8Array(2) },
      { a: new (class Hidden {})() },
      { [Symbol("hidden")]: 1 },
      JSON.parse('{"__proto__":{"hidden":1}}'),
      cyclic,
    ];
    for (const input of cases) {
      const { run, runs, seen } = await start({}, { limits: { maxEventTextBytes: 1000 } });
      expect(await rejection(run(input))).toMatchObject({ name: "SupervisionError", code: "unjudgeable" });
      expect(runs).toEqual([]);
      expect(seen).toEqual([]);
    }
  });

  it("with times and absent fields as they are", async () => {
    const { run, runs, of } = await start({});
    const at = new Date(0);
    await run({ command: "ls", at, none: undefined, nil: null });
    expect(runs).toEqual([{ command: "ls", at: new Date(0), none: undefined, nil: null }]);
    expect((runs[0] as any).at).not.toBe(at);
    expect(of("pre_action")[0].arguments).toEqual({
      command: "ls",
      at: "1970-01-01T00:00:00.000Z",
      nil: null,
    });
  });
});

describe("the report of a tool call", () => {
  it("tells an error and how long it took, and the tool's own error stays", async () => {
    const clock = createManualClock();
    const { client, settled, of } = await startHarness();
    const failure = Object.assign(new RangeError("no space"), { code: "ENOSPC" });
    const { write } = superviseTools(
      {
        write: tool({
          inputSchema: z.object({}),
          execute: async (): Promise<string> => {
            clock.advance(250);
            throw failure;
          },
        }),
      },
      client,
      { clock },
    );
    expect(await rejection(write.execute?.({}, callOptions) as never)).toBe(failure);
    await settled();
    expect(of("post_action")).toEqual([
      {
        action_type: "tool_call",
        tool_name: "write",
        tool_call_id: "c1",
        outcome: "error",
        duration_ms: 250,
        error: { name: "RangeError", code: "ENOSPC", message: "no space" },
      },
    ]);
  });

  it("cuts large results, leaves out what has no JSON, and tells a stop in mid-stream", async () => {
    const { client, settled, of } = await startHarness();
    const begun = createDeferred<void>();
    const tools = superviseTools(
      {
        large: tool({ inputSchema: z.object({}), execute: async () => "y".repeat(100_000) }),
        odd: tool({ inputSchema: z.object({}), execute: async () => 1n as any }),
        endless: tool({
          inputSchema: z.object({}),
          async *execute(): AsyncGenerator<number> {
            for (;;) yield 1;
          },
        }),
        late: tool({
          inputSchema: z.object({}),
          execute: async (_input, { abortSignal }): Promise<string> => {
            begun.resolve();
            await new Promise((resolve) => abortSignal?.addEventListener("abort", resolve));
            throw abortSignal?.reason;
          },
        }),
      },
      client,
      { limits: { maxReportTextBytes: 100 } },
    );
    await tools.large.execute?.({}, callOptions);
    await tools.odd.execute?.({}, callOptions);
    const endless: any = tools.endless.execute?.({}, callOptions);
    for await (const _ of endless) break;
    const abort = new AbortController();
    const late = rejection(tools.late.execute?.({}, { ...callOptions, abortSignal: abort.signal }) as never);
    await begun.promise;
    abort.abort();
    expect(await late).toMatchObject({ name: "AbortError" });
    await settled();
    expect(of("post_action").map(({ tool_name, outcome, result }) => [tool_name, outcome, result])).toEqual([
      ["large", "success", `${"y".repeat(100)}… [99900 more bytes]`],
      ["odd", "success", undefined],
      ["endless", "cancelled", undefined],
      ["late", "cancelled", undefined],
    ]);
  });

  it("that cannot be sent does not touch the result", async () => {
    const { client } = await startHarness();
    const errors: string[] = [];
    const { tool: own, runs } = bash();
    const broken = {
      sessionId: client.sessionId,
      decide: client.decide.bind(client),
      notify: () => {
        throw new TypeError("broken");
      },
    };
    const onError = ({ code }: { code: string }) => {
      errors.push(code);
      throw new Error("ignored");
    };
    const { bash: supervised } = superviseTools({ bash: own }, broken as never, { onError });
    await expect(supervised.execute?.({ command: "ls", times: 1 }, callOptions)).resolves.toBe("ran ls");
    expect(errors).toEqual(["report_failed"]);
    expect(runs).toHaveLength(1);
  });
});

describe("what is not wrapped", () => {
  it("tools without execute are the same objects", async () => {
    const { client, seen } = await startHarness();
    const ask: any = tool({ inputSchema: z.object({ question: z.string() }) });
    const search = { type: "provider", id: "mock.search", args: {}, inputSchema: z.object({}) } as any;
    const tools = superviseTools({ ask, search }, client);
    expect(tools.ask).toBe(ask);
    expect(tools.search).toBe(search);
    const { model } = scripted({ calls: [["ask", { question: "why?" }]] });
    const { toolCalls } = await generateText({ model, prompt: "go", tools: { ask: tools.ask } });
    expect(toolCalls).toMatchObject([{ toolName: "ask", input: { question: "why?" } }]);
    expect(seen).toEqual([]);
  });

  it("options that cannot be used are refused at once", async () => {
    const { client } = await startHarness();
    for (const options of [
      { limits: { maxEventTextBytes: 0 } },
      { limits: { maxDeferrals: -1 } },
      { limits: { maxDeferMs: 1.5 } },
      { approvals: "nobody" },
      { oversizePrompt: "cut" },
    ] as object[]) {
      let code: unknown;
      try {
        superviseTools({}, client, options);
      } catch (error) {
        code = (error as { code?: unknown }).code;
      }
      expect([options, code]).toEqual([options, "invalid_argument"]);
    }
  });
});
