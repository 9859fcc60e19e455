import { describe, expect, it } from "vitest";
import * as z from "zod";
import { inputSchemaOf, prepareCall, type Tool, ToolError, tool } from "../../src/tool/index.ts";

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  effects: "read",
  run: ({ a, b }) => a + b,
});
const scope = { callId: "call_1" };
const context = { ...scope, signal: new AbortController().signal, stdout: () => {}, stderr: () => {} };

describe("tool", () => {
  it("declares the JSON Schema of its input", () => {
    expect(inputSchemaOf(add)).toMatchObject({ type: "object", required: ["a"] });
    const plain = { type: "object", properties: {} };
    expect(inputSchemaOf({ ...add, input: plain })).toEqual(plain);
    expect(inputSchemaOf({ ...add, inputSchema: plain })).toEqual(plain);
  });

  it("runs with the input as its schema parses it", async () => {
    const call = await prepareCall(add, { a: 2, other: true }, scope);
    expect(call.input).toEqual({ a: 2, b: 1 });
    expect(await call.run(context)).toBe(3);
  });

  it("refuses an input that does not fit, and names where", async () => {
    const refused = prepareCall(add, { a: "secret" }, scope);
    await expect(refused).rejects.toMatchObject({ name: "ToolError", code: "tool.invalid_input" });
    await expect(refused).rejects.toThrow(/ a: /);
    const plain: Tool = { ...add, input: { type: "object" } };
    await expect(prepareCall(plain, [1], scope)).rejects.toMatchObject({ code: "tool.invalid_input" });
    expect((await prepareCall(plain, { a: 1 }, scope)).input).toEqual({ a: 1 });
  });

  it("prefers what prepare returns", async () => {
    const preparing: Tool = {
      ...add,
      prepare: async (_input, { callId }) => ({ input: { a: 1, b: 1 }, preview: callId }),
    };
    const call = await prepareCall(preparing, null, scope);
    expect(call).toMatchObject({ input: { a: 1, b: 1 }, preview: "call_1" });
    expect(await call.run(context)).toBe(2);
  });

  it.each([
    [{ name: "" }, /name must be/],
    [{ name: "a b" }, /name must be/],
    [{ description: 1 }, /description must be a string/],
    [{ input: [] }, /input must be a Standard Schema or a JSON Schema object/],
  ])("refuses a definition with %j", (change, message) => {
    expect(() => tool({ ...add, ...change } as never)).toThrow(message);
  });

  it("needs a JSON Schema that describes an object", () => {
    const { "~standard": standard } = z.object({});
    const silent = { "~standard": { version: 1, vendor: "x", validate: standard.validate } } as const;
    expect(() => inputSchemaOf({ ...add, input: silent })).toThrow(/pass one as inputSchema/);
    expect(() => inputSchemaOf({ ...add, input: { type: "string" } })).toThrow(/must describe a JSON object/);
  });

  it("recognises its errors across copies of the package", () => {
    const error = new ToolError("file.not_found", "There is no such file.", { retryable: false });
    expect(ToolError.isInstance(error)).toBe(true);
    expect(ToolError.isInstance(new TypeError("x"))).toBe(false);
    expect(error).toMatchObject({ code: "file.not_found", retryable: false });
  });
});
