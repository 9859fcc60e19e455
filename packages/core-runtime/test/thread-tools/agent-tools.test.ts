import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ToolError } from "@harnesskit/wire/tool";
import { describe, expect, it } from "vitest";
import type { CallResult } from "../../src/call-result.ts";
import type { ToolInfo } from "../../src/judge-tool.ts";
import { createAgentTools, type ToolHost, type ToolHostCallOptions } from "../../src/thread-tools/index.ts";

const infoOf = (id: string, more: Partial<ToolInfo> = {}): ToolInfo => ({
  tool_id: id,
  agent_id: id.slice(0, id.indexOf("/")),
  name: id.slice(id.indexOf("/") + 1),
  description: "A tool",
  input_schema: { type: "object" },
  schema_digest: "sha256:00",
  declaration_digest: `sha256:${"ab".repeat(32)}`,
  unchecked_patterns: 0,
  ...more,
});

interface SeenCall {
  readonly toolId: string;
  readonly input: unknown;
  readonly options: ToolHostCallOptions;
}

const failed = (code: string, where = "core", details: JsonObject = {}): CallResult => ({
  status: "failed",
  error: { code, message: `because of ${code}`, where, details },
});

const toolsOf = async (
  infos: readonly ToolInfo[],
  answers: { readonly check?: CallResult; readonly results?: Readonly<Record<string, CallResult>> } = {},
) => {
  const calls: SeenCall[] = [];
  const notes: string[] = [];
  const host: ToolHost = {
    tools: async () => infos,
    check: async () => answers.check,
    call: async (toolId, input, options) => {
      calls.push({ toolId, input, options });
      return answers.results?.[toolId] ?? { status: "succeeded", output: { ok: true } };
    },
  };
  const actor = { type: "human", id: "ada" } as const;
  const list = createAgentTools({ host, callerId: "test", actor, onNote: (line) => notes.push(line) });
  const tools = await list();
  return { tools, calls, notes, list };
};

const scope = { callId: "item_1", threadId: "ses_1", directory: "/work" };
const context = {
  callId: "item_1",
  signal: new AbortController().signal,
  stdout: () => {},
  stderr: () => {},
};

const errorOf = async (work: Promise<unknown>): Promise<ToolError> => {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!ToolError.isInstance(error)) throw new TypeError(`no ToolError: ${String(error)}`);
  return error;
};

describe("tools of any agents", () => {
  it.each([
    [{ side_effects: false }, "read"],
    [{ side_effects: true }, "execute"],
    [{}, "execute"],
    [{ side_effects: false, requires_directive: true }, "execute"],
  ] as const)("are as dangerous as they declare, or more: %j", async (declared, effects) => {
    const { tools } = await toolsOf([infoOf("com.example/do", declared)]);
    expect(tools).toMatchObject([{ id: "com.example/do", name: "com_example__do", effects }]);
  });

  it("run as they were shown: the call says for whom, by whom and for which declaration", async () => {
    const { tools, calls } = await toolsOf([infoOf("com.example/do")]);
    const call = await tools[0]?.prepare({ a: 1 }, scope);
    expect(call?.input).toEqual({ a: 1 });
    expect(call?.preview).toBe(
      "com.example/do: it does not say what it changes (declaration abababababababab)",
    );
    expect(await call?.run(context)).toEqual({ ok: true });
    expect(calls).toEqual([
      {
        toolId: "com.example/do",
        input: { a: 1 },
        options: expect.objectContaining({
          caller: { type: "agent", id: "test" },
          actor: { type: "human", id: "ada" },
          correlationId: "ses_1",
          declarationDigest: `sha256:${"ab".repeat(32)}`,
        }),
      },
    ]);
  });

  it("are shown and run with the defaults of what is required and missing", async () => {
    const part = { type: "object", properties: { limit: { default: 20 }, more: {} }, required: ["limit"] };
    const properties = { query: { type: "string" }, part, mode: { default: "fast" }, extra: { default: 1 } };
    const input_schema = { type: "object", properties, required: ["query", "mode"] };
    const { tools, calls } = await toolsOf([infoOf("com.example/do", { input_schema })]);
    const call = await tools[0]?.prepare({ query: "q", part: {}, other: 5 }, scope);
    const filled = { query: "q", part: { limit: 20 }, other: 5, mode: "fast" };
    expect(call?.input).toEqual(filled);
    await call?.run(context);
    expect(calls[0]?.input).toEqual(filled);
    expect((await tools[0]?.prepare({ mode: "slow" }, scope))?.input).toEqual({ mode: "slow" });
  });

  it("refuse before a human is asked what their core would refuse", async () => {
    const { tools, calls } = await toolsOf([infoOf("com.example/do")], { check: failed("tool.forbidden") });
    expect((await errorOf(tools[0]?.prepare({}, scope) as Promise<unknown>)).code).toBe("tool.forbidden");
    expect(calls).toEqual([]);
  });

  it.each([
    ["tool.changed", "core", "tool.changed", undefined],
    ["tool.not_found", "core", "agent.unavailable", undefined],
    ["tool.not_found", "agent.tool", "tool.not_found", undefined],
    ["tool.timeout", "core", "tool.timeout", undefined],
    ["tool.canceled", "core", "tool.cancelled", undefined],
    ["agent.lost", "core", "agent.lost", true],
    ["core.closed", "core", "core.closed", true],
    ["protocol.invalid_message", "core", "protocol.invalid_message", true],
    ["tool.changed", "agent.tool", "tool.changed", undefined],
    ["mcp.request_failed", "agent.tool", "mcp.request_failed", true, { may_have_run: true }],
  ] as const)("end with %s of %s as %s", async (code, where, told, mayHaveRun, details?: JsonObject) => {
    const results = { "com.example/do": failed(code, where, details) };
    const { tools } = await toolsOf([infoOf("com.example/do")], { results });
    const call = await tools[0]?.prepare({}, scope);
    const error = await errorOf(call?.run(context) as Promise<unknown>);
    expect({ code: error.code, mayHaveRun: error.mayHaveRun }).toEqual({ code: told, mayHaveRun });
  });

  it("are prepared by their agent where it has a tool for that, which no model is shown", async () => {
    const prepare = infoOf("com.example/prepare", {
      side_effects: false,
      input_schema: { type: "object", properties: { tool: {}, input: {} } },
    });
    const output: JsonObject = { input: { a: 2 }, preview: "-1\n+2", expected: { digest: "x" } };
    const results: Record<string, CallResult> = { "com.example/prepare": { status: "succeeded", output } };
    const { tools, calls } = await toolsOf([prepare, infoOf("com.example/do")], { results });
    expect(tools.map(({ name }) => name)).toEqual(["com_example__do"]);
    const call = await tools[0]?.prepare({ a: 1 }, scope);
    expect(call?.preview).toMatch(/^com\.example\/do: .*\n\n-1\n\+2$/);
    await call?.run(context);
    expect(calls.map(({ toolId, input }) => [toolId, input])).toEqual([
      ["com.example/prepare", { tool: "do", input: { a: 1 } }],
      ["com.example/do", { a: 2, expected: { digest: "x" } }],
    ]);
  });

  it("are not prepared by a tool that has effects of its own", async () => {
    const prepare = infoOf("com.example/prepare", {
      input_schema: { type: "object", properties: { tool: {}, input: {} } },
    });
    const { tools, calls } = await toolsOf([prepare, infoOf("com.example/do")]);
    await tools[0]?.prepare({}, scope);
    expect(tools.map(({ name }) => name)).toEqual(["com_example__do", "com_example__prepare"]);
    expect(calls).toEqual([]);
  });

  it("are left out, with one note, where a model cannot be shown them", async () => {
    const wrong = infoOf("com.example/list", { input_schema: { type: "array" } });
    const large = infoOf("com.example/large", {
      input_schema: { type: "object", title: "x".repeat(70_000) },
    });
    const { tools, notes, list } = await toolsOf([wrong, large, infoOf("com.example/do")]);
    await list();
    expect(tools.map(({ id }) => id)).toEqual(["com.example/do"]);
    expect(notes).toEqual([
      "the tool com.example/large is left out: the schema of its input is too large",
      "the tool com.example/list is left out: its input is not declared as a JSON object",
    ]);
  });
});
