import type { StandardSchema } from "@harnesskit/wire/tool";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { defineAgent, tool } from "../src/index.ts";
import { compileTool } from "../src/tool.ts";
import { agentId, connected, rejection, thrown } from "./support.ts";

const agentOf = (...tools: ReturnType<typeof tool>[]) =>
  defineAgent({ id: agentId, version: "1.0.0", tools });

/** A library that validates and gives no JSON Schema; its messages quote the value. */
const quoting = (accepts: (value: unknown) => boolean): StandardSchema<{ a: string }> => ({
  "~standard": {
    version: 1,
    vendor: "quoting",
    validate: async (value) =>
      accepts(value)
        ? { value: value as { a: string } }
        : { issues: [{ message: `was ${JSON.stringify(value)}`, path: ["a", { key: 0 }] }] },
  },
});

describe("a tool with zod schemas", () => {
  const input = z.object({ path: z.string(), lines: z.number().default(10) });

  it("declares what goes in, parses it, has its types, and may return nothing without an output schema", async () => {
    const read = tool({
      name: "read",
      description: "Reads.",
      input,
      output: z.object({ text: z.string().default("nothing") }),
      effects: "read",
      requiresDirective: true,
      capabilities: ["streaming"],
      tags: ["files"],
      run(given) {
        expectTypeOf(given).toEqualTypeOf<{ path: string; lines: number }>();
        return given.lines === 10 ? {} : { text: given.path };
      },
    });
    expect(compileTool(read).declarationFor("a.b")).toMatchObject({
      tool_id: "a.b/read",
      name: "read",
      description: "Reads.",
      input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      output_schema: { type: "object", required: ["text"] },
      capabilities: ["streaming"],
      side_effects: false,
      requires_directive: true,
      tags: ["files"],
    });
    expect(await agentOf(read).call("read", { path: "x" })).toEqual({ text: "nothing" });
    const quiet = tool({ name: "quiet", description: "", input, run() {} });
    expect(await agentOf(quiet).call("quiet", { path: "x" })).toBeUndefined();
    tool({
      name: "wrong",
      description: "",
      input,
      output: z.object({ n: z.number() }),
      // @ts-expect-error: the output schema asks for a number
      run: () => ({ n: "1" }),
    });
    expect(await agentOf(read).call("read", { path: "x", lines: 2 })).toEqual({ text: "x" });
  });

  it("says where an input does not match, and never what it was", async () => {
    const agent = agentOf(tool({ name: "t", description: "", input, run: () => ({}) }));
    const error = await rejection(agent.call("t", { path: 5, lines: "s3cret" }));
    expect(error).toMatchObject({
      name: "ToolError",
      code: "tool.invalid_input",
      details: {
        problems: [
          { path: "/path", problem: "invalid_type", expected: "string" },
          { path: "/lines", problem: "invalid_type", expected: "number" },
        ],
      },
    });
    expect(error.message).toBe(
      "the input does not match the tool's input schema: /path: invalid_type (string), /lines: invalid_type (number)",
    );
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });

  it("needs a schema that JSON Schema can tell, or one beside it", () => {
    const when = z.object({ at: z.date() });
    const run = () => ({});
    expect(thrown(() => tool({ name: "t", description: "", input: when, run }))).toMatchObject({
      name: "InvalidArgumentError",
      code: "invalid_argument",
      message: expect.stringContaining("inputSchema"),
    });
    const beside = { type: "object", properties: { at: { type: "string" } } };
    const made = tool({ name: "t", description: "", input: when, inputSchema: beside, run });
    expect(compileTool(made).declarationFor("a").input_schema).toEqual(beside);
    expect(thrown(() => tool({ name: "t", description: "", input: z.string() as never, run }))).toMatchObject(
      {
        code: "invalid_argument",
        message: expect.stringContaining('"object"'),
      },
    );
  });
});

it("a tool with another Standard Schema is validated by it, also when that takes a while; messages that may quote are left out", async () => {
  const schema = quoting((value) => (value as { a?: unknown }).a === "yes");
  const run = (given: { a: string }) => ({ given });
  expect(thrown(() => tool({ name: "t", description: "", input: schema, run }))).toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("inputSchema"),
  });
  const made = tool({
    name: "t",
    description: "",
    input: schema,
    inputSchema: { type: "object" },
    output: quoting((value) => (value as { given?: unknown }).given !== undefined),
    outputSchema: { type: "object" },
    run: run as never,
  });
  expect(await agentOf(made).call("t", { a: "yes" })).toEqual({ given: { a: "yes" } });
  const error = await rejection(agentOf(made).call("t", { a: "s3cret" }));
  expect(error).toMatchObject({
    code: "tool.invalid_input",
    details: { problems: [{ path: "/a/0", problem: "invalid" }] },
  });
  expect(error.message).not.toContain("s3cret");
});

describe("a tool with a JSON Schema", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { name: { type: "string", format: "email" }, list: { prefixItems: [{ type: "number" }] } },
    required: ["name"],
    additionalProperties: false,
  };

  it("is validated by it, formats aside", async () => {
    const agent = agentOf(tool({ name: "t", description: "", input: schema, run: (given) => given }));
    expect(await agent.call("t", { name: "x", list: [1, "a"] })).toEqual({ name: "x", list: [1, "a"] });
    const code = "tool.invalid_input";
    expect(await rejection(agent.call("t", {}))).toMatchObject({
      code,
      details: { problems: [{ path: "", problem: "required", expected: "name" }] },
    });
    expect(await rejection(agent.call("t", { name: "x", list: ["s3cret"] }))).toMatchObject({
      code,
      details: { problems: [{ path: "/list/0", problem: "type", expected: "number" }] },
    });
    expect(await rejection(agent.call("t", { name: "x", s3cret: 1 }))).toMatchObject({
      code,
      message: expect.not.stringContaining("s3cret"),
    });
  });

  it.each([
    ["no schema", { type: "nonsense" }],
    ["no object", { type: "array" }],
    ["nothing", null as never],
    ["without a JSON form", { minLength: 1n }],
  ])("is refused when it is %s", (_what, input) => {
    expect(thrown(() => tool({ name: "t", description: "", input, run: () => ({}) }))).toMatchObject({
      name: "InvalidArgumentError",
      code: "invalid_argument",
    });
  });

  it.each([
    ["no schema", { properties: { a: { type: "nonsense" } } }],
    ["a reference to nowhere", { $ref: "https://example.com/none" }],
  ])("is refused when it is first used and is %s", async (_what, input) => {
    const made = tool({ name: "t", description: "", input, run: () => ({}) });
    const refused = {
      name: "InvalidArgumentError",
      code: "invalid_argument",
      message: "tool t: input is not a valid JSON Schema (draft 2020-12)",
    };
    expect(await rejection(agentOf(made).call("t", {}))).toMatchObject(refused);
    const agent = agentOf();
    expect(await rejection(agent.register(made))).toMatchObject(refused);
    expect(agent.unregister("t")).toEqual([]);
    expect(await rejection(connected(agentOf(made)))).toMatchObject(refused);
  });
});

describe("what cannot be defined", () => {
  const input = { type: "object" };
  const run = () => ({});

  it.each([
    ["a name with a slash", { name: "a/b" }],
    ["no name", { name: "" }],
    ["a name that begins with a dash", { name: "-a" }],
    ["a long name", { name: "a".repeat(129) }],
    ["no description", { description: 5 as never }],
    ["no time", { timeoutMs: 0 }],
  ])("is a tool with %s", (_what, more) => {
    expect(thrown(() => tool({ name: "t", description: "", input, run, ...more }))).toMatchObject({
      code: "invalid_argument",
    });
  });

  it.each([
    ["an id with a slash", { id: "a/b" }],
    ["a version that is not semantic", { version: "1" }],
    ["a limit of 0", { limits: { maxInFlightCalls: 0 } }],
    ["a limit that is no integer", { limits: { maxStreamBytes: 1.5 } }],
    ["a time that is no number", { cancelGraceMs: Number.NaN }],
    ["two tools of one name", { tools: [1, 2].map(() => tool({ name: "t", description: "", input, run })) }],
  ])("is an agent with %s", (_what, more) => {
    expect(thrown(() => defineAgent({ id: agentId, version: "1.0.0", ...more }))).toMatchObject({
      name: "InvalidArgumentError",
      code: "invalid_argument",
    });
  });
});
