import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createAhpServer } from "@harnesskit/ahp-server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { maxHookInputBytes } from "../src/hook/hook-frames.ts";
import { runHook } from "../src/hook/index.ts";
import type { RunHookOptions } from "../src/hook/run-hook.ts";
import { createGuard, createHookListener } from "../src/index.ts";
import { codexInput, makeDirectory, policyHarness, refusalOf } from "./support/hooks.ts";

const run = (input: string | Readable, options: Partial<RunHookOptions>) =>
  runHook(
    { host: "codex", ...options },
    { stdin: typeof input === "string" ? Readable.from([Buffer.from(input)]) : input },
  );

/** A guard on a socket. */
const serve = async (harness: Parameters<typeof createGuard>[0]["harness"], maxConnections?: number) => {
  const path = join(await makeDirectory(), "guard.sock");
  const guard = createGuard({ harness, version: "1.0.0" });
  const listener = createHookListener({
    guard,
    path,
    ...(maxConnections !== undefined && { maxConnections }),
  });
  await listener.listen();
  onTestFinished(() => listener.close());
  return { path, listener, guard };
};

/** Something else on a socket, that does this with what it receives. */
const serveRaw = async (onData: (socket: import("node:net").Socket) => void) => {
  const path = join(await makeDirectory(), "guard.sock");
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => onData(socket));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return path;
};

describe("the program of a hook", () => {
  it("writes the answer of the guard", async () => {
    const { path } = await serve(await policyHarness());
    const refused = await run(codexInput("rm -rf /"), { socket: path });
    expect(refused.exitCode).toBe(0);
    expect(refusalOf(refused.stdout)).toContain("this would destroy something");
    const event = await run(codexInput("ls", { hook_event_name: "SessionStart" }), { socket: path });
    expect(event).toEqual({ exitCode: 0, stdout: "{}", stderr: "" });
  });

  it("sends what an edit would change with its question, and goes on without where that fails or takes too long", async () => {
    const seen = vi.fn();
    const { path } = await serve(
      createAhpServer({
        name: "t",
        version: "1",
        handlers: {
          pre_action({ metadata }) {
            seen(metadata?.preview);
            return { decision: "allow" };
          },
          pre_prompt({ metadata }) {
            seen(metadata?.preview);
            return { decision: "allow" };
          },
        },
      }),
    );
    const options = { socket: path, timeoutMs: 2000 };
    const previewOf = vi.fn(async () => "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
    await run(codexInput("ls"), { ...options, previewOf });
    expect(previewOf).toHaveBeenCalledWith(codexInput("ls"), process.cwd());
    expect(seen).toHaveBeenLastCalledWith(expect.stringContaining("@@ -1 +1 @@"));
    await run(codexInput("ls", { hook_event_name: "UserPromptSubmit", prompt: "x" }), {
      ...options,
      previewOf,
    });
    expect(seen).toHaveBeenLastCalledWith(undefined);
    for (const failing of [
      async () => Promise.reject(new Error("x")),
      () => new Promise<undefined>(() => {}),
      async () => "x".repeat(128 * 1024 + 1),
    ]) {
      const { exitCode } = await run(codexInput("ls"), { ...options, previewOf: failing });
      expect([exitCode, seen.mock.lastCall]).toEqual([0, [undefined]]);
    }
  });

  it("sends the whole input, with any characters, and the directory in which it was started", async () => {
    const seen = vi.fn();
    const { path } = await serve(
      createAhpServer({
        name: "t",
        version: "1",
        handlers: {
          pre_action({ payload, metadata }) {
            seen((payload as { arguments: unknown }).arguments, metadata?.workspace);
            return { decision: "allow" };
          },
        },
      }),
    );
    const command = `printf '\u0001 é \u{1f600} \\n "'\n${"x".repeat(300_000)}`;
    expect(await run(codexInput(command), { socket: path })).toMatchObject({ exitCode: 0 });
    expect(seen).toHaveBeenCalledWith({ command, cwd: "/work/app" }, process.cwd());
  });

  it("refuses without a hub, and says how to start it", async () => {
    const directory = await makeDirectory();
    const answer = await run(codexInput("ls"), { socket: join(directory, "none.sock") });
    expect(answer).toMatchObject({ exitCode: 2, stdout: "" });
    expect(answer.stderr).toMatch(
      /^harness guard \(codex\): the hub does not run at .*none\.sock: start it with harness hub\n$/,
    );
  });

  it("refuses without a hub in the form whose reason Copilot CLI hands to its model", async () => {
    const directory = await makeDirectory();
    const answer = await run("{}", { host: "copilot-cli", socket: join(directory, "none.sock") });
    expect(answer).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(answer.stdout)).toEqual({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("start it with harness hub"),
    });
  });

  it("takes Claude Code's project for the workspace: its model changes the directory of hooks", async () => {
    const seen = vi.fn();
    const handlers: Parameters<typeof createAhpServer>[0]["handlers"] = {
      pre_action({ metadata }) {
        seen(metadata?.workspace);
        return { decision: "allow" };
      },
    };
    const { path } = await serve(createAhpServer({ name: "t", version: "1", handlers }));
    vi.stubEnv("CLAUDE_PROJECT_DIR", "/work/project");
    onTestFinished(() => void vi.unstubAllEnvs());
    await run(codexInput("ls"), { host: "claude-code", socket: path });
    await run(codexInput("ls"), { host: "codex", socket: path });
    expect(seen.mock.calls).toEqual([["/work/project"], [process.cwd()]]);
  });

  it("refuses when the hub ends in the middle of a question", async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const harness = createAhpServer({
      name: "t",
      version: "1",
      handlers: {
        pre_action: () => {
          asked();
          return new Promise(() => {});
        },
      },
    });
    const { path, listener } = await serve(harness);
    const answer = run(codexInput("ls"), { socket: path, timeoutMs: 600_000 });
    await isAsked;
    await listener.close();
    expect(await answer).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("the hub closed the connection"),
    });
  });

  it("cancels the question when the host ends the hook", async () => {
    const { path, guard } = await serve(
      createAhpServer({ name: "t", version: "1", handlers: { pre_action: () => new Promise(() => {}) } }),
    );
    // Its own deadline ends this one.
    await run(codexInput("ls"), { socket: path, timeoutMs: 200 });
    await vi.waitFor(() => expect(guard.pending).toBe(0));
  });

  it("refuses two seconds before the host stops waiting, and half of a short time", async () => {
    const path = await serveRaw(() => {});
    const answer = await run(codexInput("ls"), { socket: path, timeoutMs: 200 });
    expect(answer).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("no decision within 0.1 s"),
    });
  });

  it("refuses when the host does not end the input", async () => {
    const answer = await run(new Readable({ read() {} }), { timeoutMs: 100, socket: "/nowhere" });
    expect(answer).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("no decision within") });
  });

  it("refuses input above its limit", async () => {
    const chunk = Buffer.alloc(1024 * 1024, 120);
    const chunks = Array.from({ length: maxHookInputBytes / chunk.length + 1 }, () => chunk);
    const answer = await run(Readable.from(chunks), { socket: "/nowhere" });
    expect(answer).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("exceeds 8388608 bytes") });
  });

  it.each([
    ["no JSON", "hello\n", "the hub's answer is not valid"],
    [
      "a refusal without a reason",
      '{"exitCode":2,"stdout":"","stderr":" "}\n',
      "the hub's answer is not valid",
    ],
    [
      "a text that the host would ignore",
      '{"exitCode":0,"stdout":"ok","stderr":""}\n',
      "the hub's answer is not valid",
    ],
    ["nothing to say", '{"exitCode":0,"stdout":"","stderr":""}\n', "the hub's answer is not valid"],
    ["a list", '{"exitCode":0,"stdout":"[]","stderr":""}\n', "the hub's answer is not valid"],
    ["another exit code", '{"exitCode":1,"stdout":"","stderr":"x"}\n', "the hub's answer is not valid"],
    ["no id", '{"exitCode":0,"stdout":"{}","stderr":""}\n', "the hub's answer is not to this request"],
    [
      "the id of another request",
      '{"id":"another","exitCode":0,"stdout":"{}","stderr":""}\n',
      "the hub's answer is not to this request",
    ],
    [
      "a refusal of another request",
      '{"id":"another","exitCode":2,"stdout":"","stderr":"no"}\n',
      "the hub's answer is not to this request",
    ],
    ["nothing", "", "the hub closed the connection without an answer"],
  ])("refuses an answer that it does not know: %s", async (_, text, reason) => {
    const path = await serveRaw((socket) => socket.end(text));
    const answer = await run(codexInput("ls"), { socket: path });
    expect(answer).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(reason) });
  });

  it("refuses when the hub has too many connections", async () => {
    const harness = createAhpServer({
      name: "t",
      version: "1",
      handlers: { pre_action: () => new Promise(() => {}) },
    });
    const { path, guard, listener } = await serve(harness, 1);
    const first = run(codexInput("ls"), { socket: path, timeoutMs: 600_000 });
    await vi.waitFor(() => expect(guard.pending).toBe(1));
    expect(await run(codexInput("ls"), { socket: path })).toMatchObject({ exitCode: 2 });
    expect(guard.pending).toBe(1);
    await listener.close();
    await first;
  });

  it("is answered with a reason by a hub that does not know its form", async () => {
    const { path } = await serve(await policyHarness());
    const { createConnection } = await import("node:net");
    const socket = createConnection({ path });
    const line = await new Promise<string>((resolve) => {
      socket.once("data", (chunk) => resolve(String(chunk)));
      socket.write('{"version":2}\n');
    });
    expect(JSON.parse(line)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("does not know this form"),
    });
  });
});
