import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createMcpAgentDirectory } from "../src/index.ts";
import { call, serve } from "./support/serve.ts";

const program = fileURLToPath(new URL("./fixtures/odd-server.mjs", import.meta.url));
const odd = (...what: string[]) => ({
  command: [process.execPath, program, ...what] as [string, ...string[]],
});
const answered = (...content: object[]) => ({ status: "succeeded", output: { content } });
const failed = (code: string, message: unknown = expect.any(String)) => ({
  status: "failed",
  error: expect.objectContaining({ code, message }),
});
const text = (value: unknown) => ({ type: "text", text: value });

describe("an MCP server that is not quite right", () => {
  it("has each tool that can be used; a malformed one costs no other and is named", async () => {
    await using served = await serve({ server: odd("schemas") });
    const usable = [
      "good",
      "no-type",
      "true-property",
      "types",
      "no-schema",
      "nulls",
      "string-hint",
      "dangling-input",
      "old-draft",
      "half",
    ];
    const outputs = ["odd-output", "list-output", "text-output", "dangling-output"];
    const ready = served.registrations[0]?.map((id) => id.slice("mcp.test/".length));
    expect(ready?.toSorted()).toEqual([...usable, ...outputs].sort());
    expect(served.tool("types")?.input_schema).toEqual({ type: "object" });
    expect(served.tool("string-hint")?.side_effects).toBe(true);
    expect(served.tool("dangling-input")?.input_schema).toEqual({ type: "object", properties: { s: {} } });
    expect(served.tool("old-draft")?.input_schema).toEqual({
      type: "object",
      properties: { n: { type: "integer", minimum: 0 }, p: { type: "string" } },
    });
    expect(served.tool("half")).toMatchObject({
      description: "cut \ufffd",
      input_schema: { properties: { "cut \ufffd": { description: "cut \ufffd" } } },
    });
    expect(served.tool("list-output")).toHaveProperty("output_schema");
    expect(await call(served.core, "dangling-output")).toMatchObject(answered(text("ok")));
    const reports = served.reports.map(({ message }) => message);
    const named = [
      /old-draft .* left out/,
      /odd-enum .* not offered/,
      /of-strings/,
      /text-input/,
      /cut .* not offered/,
    ];
    for (const name of named) expect(reports).toContainEqual(expect.stringMatching(name));
    expect(reports).toHaveLength(8);
  });

  it("is offered without the schema of an output that no core takes, also where it has no other tool", async () => {
    await using served = await serve({ server: odd("only") });
    expect(served.registrations[0]).toEqual(["mcp.test/bad-output"]);
    expect(served.tool("bad-output")?.output_schema).toBeUndefined();
  });

  it.each([
    ["nulls", answered(text("t"))],
    ["null-content", { output: { content: [], structuredContent: { a: 1 } } }],
    ["no-content", answered()],
    ["old-result", answered(text('{"a":1}'))],
    ["string-id", answered(text("t"))],
    ["batch", answered(text("in a batch"))],
    ["bom", answered(text("marked"))],
    ["late-progress", answered(text("in one write"))],
    [
      "unknown-kind",
      answered(text(expect.stringContaining('"video"')), text(expect.stringContaining('"image"')), text("t")),
    ],
    ["string-error", failed("mcp.request_failed", expect.stringContaining("boom"))],
    ["error-without-code", failed("mcp.request_failed", expect.stringContaining("boom"))],
    ["string-result", failed("mcp.request_failed")],
    ["neither", failed("mcp.request_failed")],
  ])("settles a call with what it answers: %s", async (name, outcome) => {
    await using served = await serve({ server: odd() });
    expect(await call(served.core, name)).toMatchObject(outcome);
    expect(served.reports).toEqual([]);
  });

  it.each([
    ["deep", "mcp.invalid_result"],
    ["too-deep", "mcp.request_failed"],
  ])("ends a call whose answer nests too deep: %s", async (name, code) => {
    await using served = await serve({ server: odd() });
    expect(await call(served.core, name)).toMatchObject({ error: { code, details: { may_have_run: true } } });
  });

  it("streams what is not text in a result that failed, and names it in the message", async () => {
    await using served = await serve({ server: odd() });
    const { stream, result } = served.core.call("mcp.test/failed-shot", {}, {});
    const chunks = [];
    for await (const { channel, data } of stream) chunks.push({ channel, data });
    const shot = { type: "image", mimeType: "image/png", data: "A".repeat(150_000) };
    const big = { type: "image", mimeType: "image/png", omitted_length: 150_000 };
    expect(chunks).toEqual([{ channel: "partial_result", data: { json: { content: [shot, big] } } }]);
    expect(await result).toMatchObject(
      failed("mcp.tool_failed", "no button\n[image image/png]\n[image image/png]"),
    );
  });

  it("fails the call whose answer is too large, and no other", async () => {
    await using served = await serve({ server: odd(), limits: { maxMessageBytes: 1_000_000 } });
    const slow = call(served.core, "slow");
    expect(await call(served.core, "big")).toMatchObject(
      failed("mcp.request_failed", expect.stringContaining("1000000 bytes")),
    );
    expect(await slow).toMatchObject(answered(text("slow but well")));
    expect(served.reports.map(({ code }) => code)).toEqual(["mcp.server_fault"]);
  });

  it("has its time for a call again with each progress, and no more without", async () => {
    await using served = await serve({ server: odd(), callTimeoutMs: 200 });
    expect(await call(served.core, "slow")).toMatchObject(answered(text("slow but well")));
    await using hasty = await serve({ server: odd(), callTimeoutMs: 20 });
    expect(await call(hasty.core, "slow")).toMatchObject(
      failed("tool.timeout", expect.stringContaining("20 ms")),
    );
  });

  it("offers the tools that were chosen, and says which there are not", async () => {
    await using served = await serve({ server: odd(), tools: ["nulls", "batch", "misspelt"] });
    expect(served.core.tools().map(({ name }) => name)).toEqual(["nulls", "batch"]);
    expect(served.reports.map(({ message }) => message)).toEqual([expect.stringContaining("misspelt")]);
  });
});

it("writes the options of a server beside it, and gives the agent the time that the server may take", async () => {
  await using directory = await temporaryDirectory();
  const path = `${directory.path}/agent`;
  const options = { tools: ["a"], connectTimeoutMs: 60_000, callTimeoutMs: 5000 };
  await createMcpAgentDirectory({ directory: path, id: "mcp.test", server: odd(), ...options });
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(`${path}/${name}`, "utf8"));
  expect(await read("mcp-server.json")).toMatchObject(options);
  expect(await read("opensentience.agent.json")).toMatchObject({ start_timeout_ms: 65_000 });
});
