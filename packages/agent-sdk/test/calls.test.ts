import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { maxJsonDepth } from "@harnesskit/wire/json";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type AgentOptions, defineAgent, type ToolContext, ToolError, tool } from "../src/index.ts";
import { OutputFiles } from "../src/output-files.ts";
import { agentId, connected, temporaryDirectory, token } from "./support.ts";

const any = { type: "object" };
const toolOf = (name: string, run: (input: any, context: ToolContext) => any) =>
  tool({ name, description: name, input: any, run });
const agentOf = (tools: ReturnType<typeof tool>[], options: Partial<AgentOptions> = {}) =>
  defineAgent({ id: agentId, version: "1.0.0", tools, ...options });

describe("a call", () => {
  it("of an unknown tool fails", async () => {
    const { core } = await connected(agentOf([]));
    const { payload } = await core.result(core.call("none"));
    expect(payload).toMatchObject({ status: "failed", error: { code: "tool.not_found" } });
  });

  it("with an id that was seen before is refused, and harms the first in no way", async () => {
    let runs = 0;
    let letGo = () => {};
    const wait = toolOf("wait", () => {
      runs++;
      return new Promise((resolve) => {
        letGo = () => resolve({ done: true });
      });
    });
    const { core } = await connected(agentOf([wait]));
    core.call("wait", {}, { call_id: "c1" });
    core.call("wait", {}, { call_id: "c1" }, { request_id: "again" });
    const error = await core.type("agent.error");
    expect(error).toMatchObject({ request_id: "again", error: { code: "protocol.out_of_order" } });
    letGo();
    expect((await core.result("c1")).payload).toMatchObject({ status: "succeeded", output: { done: true } });
    core.call("wait", {}, { call_id: "c1" });
    await core.count("agent.error", 2);
    expect(core.results("c1")).toHaveLength(1);
    expect(runs).toBe(1);
  });

  it("with an input nested as deep as any value runs, and a deeper one is invalid", async () => {
    const { core } = await connected(agentOf([toolOf("take", () => ({}))]));
    const inputOf = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}{}${"}".repeat(levels)}`);
    expect((await core.result(core.call("take", inputOf(maxJsonDepth - 1)))).payload.status).toBe(
      "succeeded",
    );
    expect((await core.result(core.call("take", inputOf(maxJsonDepth)))).payload.error).toMatchObject({
      code: "tool.invalid_input",
      message: "the input nests deeper than 64 levels",
    });
  });
});

describe("a tool that fails", () => {
  it("with a ToolError says what it says", async () => {
    const details = { path: "a/b" };
    const fail = toolOf("fail", () => {
      throw new ToolError("file.not_found", "no such file", {
        details,
        retryable: true,
        cause: new Error("s3cret"),
      });
    });
    const { core } = await connected(agentOf([fail]));
    const { payload } = await core.result(core.call("fail"));
    expect(payload.status).toBe("failed");
    expect(payload.error).toEqual({
      code: "file.not_found",
      message: "no such file",
      details,
      retryable: true,
      where: "agent.tool",
    });
  });

  it("with anything else reveals nothing of it, and reports it to onError", async () => {
    const errors: unknown[] = [];
    const cause = new TypeError(`/home/me/s3cret ${token}`);
    const tools = [
      toolOf("throw", () => {
        throw cause;
      }),
      toolOf("reject", () => Promise.reject(cause)),
      toolOf("odd", () => Promise.reject(null)),
    ];
    const onError = (error: unknown) => {
      errors.push(error);
      // A log that fails, at once or later, harms nobody.
      if (errors.length === 1) throw error;
      return Promise.reject(error);
    };
    const { core } = await connected(agentOf(tools, { onError }));
    for (const { name } of tools) {
      const { payload } = await core.result(core.call(name));
      expect(payload.status).toBe("failed");
      expect(payload.error).toEqual({ code: "tool.failed", message: "the tool failed", where: "agent.tool" });
    }
    expect(errors).toMatchObject([
      { name: "ToolFailedError", code: "tool_failed", tool: "throw", cause },
      { name: "ToolFailedError", code: "tool_failed", tool: "reject", cause },
      { name: "ToolFailedError", code: "tool_failed", tool: "odd", cause: null },
    ]);
  });

  it("is bounded in what it says", async () => {
    const fail = toolOf("fail", ({ circular }) => {
      const details: any = circular ? {} : { text: "x".repeat(20_000) };
      if (circular) details.self = details;
      throw new ToolError("x".repeat(200), "m".repeat(10_000), { details });
    });
    const { core } = await connected(agentOf([fail]));
    for (const circular of [true, false]) {
      const { error } = (await core.result(core.call("fail", { circular }))).payload;
      expect(error.code).toBe("tool.failed");
      expect(error.message).toHaveLength(4096);
      expect(error.details).toBeUndefined();
    }
  });
});

describe("an output", () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  it.each([
    ["an array", [1]],
    ["a circle", circular],
    ["a bigint", { n: 1n }],
    ["deeper than a value may be", deep(64)],
    ["something that becomes a text", { toJSON: () => "text" }],
  ])("that is %s fails as invalid", async (_what, output) => {
    const { core } = await connected(agentOf([toolOf("give", () => output)]));
    const { payload } = await core.result(core.call("give"));
    expect(payload).toMatchObject({ status: "failed", error: { code: "tool.invalid_output" } });
  });

  it("may nest as deep as any value, and may be what JSON makes of an object", async () => {
    const tools = [
      toolOf("deep", () => deep(63)),
      toolOf("date", () => ({ at: new Date(0), none: undefined })),
    ];
    const { core } = await connected(agentOf(tools));
    expect((await core.result(core.call("deep"))).payload.output).toEqual(deep(63));
    expect((await core.result(core.call("date"))).payload.output).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });

  it("that does not fit the schema fails as invalid, without its value", async () => {
    const give = tool({
      name: "give",
      description: "",
      input: any,
      output: { type: "object", properties: { n: { type: "number" } } },
      run: () => ({ n: "s3cret" }),
    });
    const { core } = await connected(agentOf([give]));
    const { payload } = await core.result(core.call("give"));
    expect(payload).toMatchObject({
      status: "failed",
      error: { code: "tool.invalid_output", details: { problems: [{ path: "/n", problem: "type" }] } },
    });
    expect(JSON.stringify(payload)).not.toContain("s3cret");
  });

  describe("above the limit", () => {
    /** Output files are made in a directory of the test. */
    const inDirectory = async () => {
      const directory = await temporaryDirectory();
      vi.stubEnv("TMPDIR", directory.path);
      onTestFinished(async () => {
        vi.unstubAllEnvs();
        await directory[Symbol.asyncDispose]();
      });
      return directory.path;
    };
    const limits = { maxToolOutputBytes: 1000 };

    it("goes whole into a private file, which is gone after the end", async () => {
      const directory = await inDirectory();
      const big = { text: "é\u0000".repeat(1000) };
      const agent = agentOf([toolOf("big", () => big)], { limits });
      const { core } = await connected(agent);
      const { payload } = await core.result(core.call("big"));
      expect(payload.status).toBe("succeeded");
      const { output_file, truncated } = payload.output;
      expect(truncated).toBe(true);
      const bytes = await readFile(output_file.path);
      expect(JSON.parse(bytes.toString())).toEqual(big);
      expect(output_file.size_bytes).toBe(bytes.length);
      expect(output_file.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect((await stat(output_file.path)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(output_file.path))).mode & 0o777).toBe(0o700);
      expect(output_file.path.startsWith(directory)).toBe(true);
      await agent.stop();
      await expect(stat(dirname(output_file.path))).rejects.toMatchObject({ code: "ENOENT" });
    });

    it("fails where files are switched off, or cannot be written", async () => {
      await inDirectory();
      const give = toolOf("give", ({ bytes }) => ({ t: "x".repeat(bytes - '{"t":""}'.length) }));
      const errors: unknown[] = [];
      for (const outputFiles of [false, true]) {
        if (outputFiles) vi.stubEnv("TMPDIR", "/dev/null/nowhere");
        const onError = (error: unknown) => void errors.push(error);
        const { core } = await connected(agentOf([give], { limits, outputFiles, onError }));
        expect((await core.result(core.call("give", { bytes: 1000 }))).payload.status).toBe("succeeded");
        expect((await core.result(core.call("give", { bytes: 1001 }))).payload).toMatchObject({
          status: "failed",
          error: { code: "tool.output_too_large", details: { size_bytes: 1001, max_bytes: 1000 } },
        });
      }
      expect(errors).toMatchObject([{ code: "tool_failed", cause: { code: "ENOTDIR" } }]);
    });

    it("makes room by removing the oldest file", async () => {
      await inDirectory();
      const files = new OutputFiles(2500);
      const store = async () => (await files.store("x".repeat(1000), 1000)).output_file.path;
      const paths = [await store(), await store(), await store()];
      const sizes = paths.map((path) =>
        stat(path)
          .then(({ size }) => size)
          .catch(({ code }) => code),
      );
      expect(await Promise.all(sizes)).toEqual(["ENOENT", 1000, 1000]);
      await files.close();
    });
  });
});

it.each([4096, 65_536])(
  "a frame of %i bytes is never exceeded, whatever a tool returns or throws",
  async (max_frame_bytes) => {
    const roomBytes = max_frame_bytes - Math.min(16_384, max_frame_bytes / 2);
    const tools = [
      toolOf("give", ({ length }) => ({ text: "\u0001".repeat(length) })),
      toolOf("fail", ({ length }) => {
        throw new ToolError("x.y", "\u0001".repeat(length), { details: { text: "x".repeat(16_000) } });
      }),
      toolOf("say", async ({ length }, { stdout, partialResult }) => {
        await stdout("\u0001".repeat(length));
        await partialResult({ text: "\u0001".repeat(length) });
      }),
    ];
    const { core } = await connected(agentOf(tools, { outputFiles: false }), {
      welcome: { max_frame_bytes },
    });
    for (const length of [0, 100, 1000, 8000, 8190, 12_000, 20_000]) {
      for (const { name } of tools) {
        const { payload } = await core.result(core.call(name, { length }));
        const code = {
          give: 11 + 6 * length > roomBytes ? "tool.output_too_large" : undefined,
          fail: "x.y",
          say: undefined,
        }[name];
        expect(payload.error?.code).toBe(code);
      }
    }
    for (const message of core.seen) {
      expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(max_frame_bytes);
    }
  },
);
