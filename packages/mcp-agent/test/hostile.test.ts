import { systemClock } from "@harnesskit/wire/time";
import { describe, expect, it, vi } from "vitest";
import { createMcpAgent, McpError } from "../src/index.ts";
import { call, hostile, serve } from "./support/serve.ts";

const failed = (code: string, message: unknown = expect.any(String)) => ({
  status: "failed",
  error: expect.objectContaining({ code, message }),
});

describe("an MCP server as an agent", () => {
  it("offers the server's tools with their effects, and passes results on", async () => {
    await using served = await serve({ server: hostile() });
    const { core, tool } = served;
    expect(tool("ok")).toMatchObject({ side_effects: false, tags: ["mcp:read-only"] });
    expect(tool("die")).toMatchObject({ side_effects: true, tags: ["mcp:destructive", "mcp:open-world"] });
    expect(await call(core, "ok", { a: 1 })).toMatchObject({
      status: "succeeded",
      output: { content: [{ type: "text", text: '{"a":1}' }] },
    });
    expect(await call(core, "weird_x20name_x2f_xc3_xbc")).toMatchObject({ status: "succeeded" });
  });

  it("passes structured content on with the text that repeats it, which is exact, and checks it", async () => {
    await using served = await serve({ server: hostile() });
    const good = await call(served.core, "structured");
    expect(good).toMatchObject({
      status: "succeeded",
      output: {
        content: [{ type: "text", text: '{"node":{"id":1}}' }],
        structuredContent: { node: { id: 1 } },
      },
    });
    expect(await call(served.core, "structured", { wrong: true })).toMatchObject(
      failed("tool.invalid_output"),
    );
  });

  it("gives failures codes of their own, with safe texts", async () => {
    await using served = await serve({ server: hostile() });
    const { core } = served;
    expect(await call(core, "refuse")).toMatchObject(
      failed("tool.invalid_input", expect.stringContaining("⟨U+202E⟩")),
    );
    expect(await call(core, "wrong-result")).toMatchObject(failed("mcp.invalid_result"));
    expect(await call(core, "unknown")).toMatchObject(failed("tool.not_found"));
  });

  it("keeps secrets of the environment out of results, failures and output", async () => {
    const env = { MCP_TEST_SECRET: "hush-hush-4711", HARNESS_SESSION_TOKEN: "token-of-the-core" };
    await using served = await serve({ server: { ...hostile(), env: ["MCP_TEST_SECRET"] }, env });
    const { core } = served;
    const leak = JSON.stringify(await call(core, "leak"));
    expect(leak).toContain("secret=[redacted] home=undefined");
    expect(await call(core, "fail")).toMatchObject(failed("mcp.tool_failed", "it failed with [redacted]"));
    expect(JSON.stringify([served.reports, served.output])).not.toContain("hush-hush");
  });

  it("ends a call typed when the server dies, says so, starts it again and does not repeat the call", async () => {
    await using served = await serve({ server: hostile() });
    const { core, health, reports } = served;
    expect(await call(core, "die")).toMatchObject(failed("agent.lost"));
    await vi.waitFor(() => expect(health).toContain("degraded"));
    await vi.waitFor(() => expect(health.at(-1)).toBe("ok"));
    expect(reports.map(({ code }) => code)).toEqual(["mcp.server_lost"]);
    expect(await call(core, "ok")).toMatchObject({ status: "succeeded" });
  });

  it("refuses calls while the server is away", async () => {
    await using served = await serve({ server: hostile(), initialBackoffMs: 60_000, maxBackoffMs: 60_000 });
    await call(served.core, "die");
    await vi.waitFor(() => expect(served.health.at(-1)).toBe("degraded"));
    expect(await call(served.core, "ok")).toMatchObject(failed("agent.unavailable"));
  });

  it("cancels on the server what is cancelled or runs out of time, and reports progress", async () => {
    await using served = await serve({ server: hostile() });
    const { core, output } = served;
    const running = core.call("mcp.test/hang", {});
    for await (const { channel, data } of running.stream) {
      expect([channel, data]).toEqual(["status", { text: "1/3 one ⟨U+001B⟩[31mof three" }]);
      running.cancel("enough");
    }
    expect(await running.result).toMatchObject({ status: "canceled" });
    await vi.waitFor(() => expect(output.filter((line) => line.startsWith("cancelled"))).toHaveLength(1));
    expect(await call(core, "hang", {}, { timeoutMs: 50 })).toMatchObject(failed("tool.timeout"));
    await vi.waitFor(() => expect(output.filter((line) => line.startsWith("cancelled"))).toHaveLength(2));
    expect(await call(core, "ok")).toMatchObject({ status: "succeeded" });
  });

  it("goes on after garbage, and ends a server that sends little else", async () => {
    await using served = await serve({ server: hostile() });
    expect(await call(served.core, "garbage")).toMatchObject({ status: "succeeded" });
    expect(served.reports.every(({ code }) => code === "mcp.server_fault")).toBe(true);
    expect(served.reports.length).toBeGreaterThan(2);
    await using strict = await serve({ server: hostile(), limits: { maxInvalidMessages: 2 } });
    expect(await call(strict.core, "garbage")).toMatchObject(failed("agent.lost"));
  });

  it("does not use a changed tool under its old declaration", async () => {
    await using served = await serve({ server: hostile() });
    const { core, reports, tool } = served;
    await call(core, "change");
    await vi.waitFor(() => expect(tool("new")).toBeDefined());
    expect(tool("die")).toBeUndefined();
    expect(tool("ok")).toMatchObject({ description: "Now something else", side_effects: true });
    expect(reports.map(({ code, message }) => [code, message.includes("ok")])).toEqual([
      ["mcp.tool_changed", true],
    ]);
    expect(await call(core, "ok")).toMatchObject({ status: "succeeded" });
  });

  it("offers only the tools that were accepted, as they were", async () => {
    const first = await serve({ server: hostile() });
    await first[Symbol.asyncDispose]();
    const { readMcpTools } = await import("../src/index.ts");
    const { tools } = await readMcpTools({ server: hostile() });
    const acceptedTools = Object.fromEntries(
      tools
        .filter(({ name }) => name === "ok" || name === "change")
        .map(({ name, digest }) => [name, digest]),
    );
    await using served = await serve({ server: hostile(), acceptedTools });
    expect(served.core.tools().map(({ name }) => name)).toEqual(["ok", "change"]);
    await call(served.core, "change");
    await vi.waitFor(() => expect(served.tool("ok")).toBeUndefined());
    expect(served.reports.some(({ message }) => message.includes("ok") && message.includes("accepted"))).toBe(
      true,
    );
    expect(await call(served.core, "ok")).toMatchObject(failed("tool.not_found"));
  });

  it("bounds binary content, and says what it left out", async () => {
    await using served = await serve({ server: hostile() });
    expect(await call(served.core, "big")).toMatchObject({
      output: {
        content: [
          { type: "image", mimeType: "image/png", omitted_length: 600_000 },
          { type: "text", text: "beside" },
        ],
      },
    });
  });

  it("reports a bounded number of faults in a minute", async () => {
    const clock = { ...systemClock, elapsedMs: () => now };
    let now = 1000;
    await using served = await serve({
      server: hostile(),
      limits: { maxReports: 3, maxInvalidMessages: 1000 },
      clock,
    });
    for (let call_ = 0; call_ < 5; call_++) await call(served.core, "garbage");
    expect(served.reports).toHaveLength(3);
    now += 60_000;
    await call(served.core, "garbage");
    expect(served.reports).toHaveLength(7);
    expect(served.reports[3]?.message).toMatch(/^\d+ further reports were left out$/);
  });

  it("lives through a flood of notices and requests", async () => {
    await using served = await serve({ server: hostile() });
    expect(await call(served.core, "flood")).toMatchObject({ status: "succeeded" });
    expect(await call(served.core, "ok")).toMatchObject({ status: "succeeded" });
  });

  it.each(["many-tools", "endless-pages"])("reads a list of %s within its limits", async (mode) => {
    await using served = await serve({ server: hostile(mode), limits: { maxTools: 20, maxListPages: 10 } });
    expect(served.core.tools()).toHaveLength(mode === "many-tools" ? 20 : 10);
    expect(served.reports).toEqual([expect.objectContaining({ code: "mcp.tool_dropped" })]);
  });

  it("leaves out tools that cannot be used, each with a reason", async () => {
    await using served = await serve({ server: hostile("bad-tools") });
    expect(served.tool("ok")).toBeDefined();
    const dropped = served.reports.map(({ message }) => message);
    expect(dropped).toHaveLength(6);
    for (const reason of ["too long", "earlier tool", "JSON Schema", "task", "description"]) {
      expect(dropped.some((message) => message.includes(reason))).toBe(true);
    }
  });

  it.each([
    ["exit", "with code 3", "mcp.server_unavailable"],
    ["huge-line", "1048576 bytes", "mcp.server_unavailable"],
    ["no-initialize", "initialize", "mcp.server_unavailable"],
  ])("says why a server cannot be used: %s", async (mode, reason, code) => {
    const options = { connectTimeoutMs: 2000, listTimeoutMs: 1000, limits: { maxMessageBytes: 1024 * 1024 } };
    const starting = serve({ server: hostile(mode), ...options });
    await expect(starting).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason),
    });
  });

  it("refuses servers that cannot be described, and variables that are missing", async () => {
    const make = (server: object, env = {}) =>
      createMcpAgent({ id: "mcp.test", server: server as never, env });
    expect(() => make({ command: [] })).toThrow(McpError);
    expect(() => make({ url: "http://example.com/mcp" })).toThrow("https:");
    expect(() => make({ url: "https://user:pass@example.com/mcp" })).toThrow("headers");
    expect(() => make({ command: ["x"], env: ["HARNESS_SESSION_TOKEN"] })).toThrow("belongs to the core");
    expect(() => make({ command: ["x"], env: ["MISSING_ONE"] })).toThrow(
      expect.objectContaining({
        code: "mcp.environment_missing",
        message: expect.stringContaining("MISSING_ONE"),
      }),
    );
    const starting = serve({ server: { command: ["/no/such/program"] } });
    await expect(starting).rejects.toMatchObject({
      code: "mcp.server_unavailable",
      message: expect.stringContaining("not found"),
    });
  });
});
