import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { createWorkspaceAgent, type WorkspaceAgentOptions } from "../src/index.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";
import { isRunning } from "./support/processes.ts";

let fixture: Fixture;
const use = async (options: WorkspaceAgentOptions) => {
  await fixture[Symbol.asyncDispose]();
  fixture = await Fixture.create(options);
};
beforeEach(async () => {
  fixture = await Fixture.create();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await fixture[Symbol.asyncDispose]();
});

const pidIn = async (name: string): Promise<number> => {
  await until(() => existsSync(fixture.path(name)));
  await until(async () => (await readFile(fixture.path(name), "utf8")).endsWith("\n"));
  return Number(await readFile(fixture.path(name), "utf8"));
};

describe("bash", () => {
  it("runs in the workspace and returns both streams and the exit code", async () => {
    const output = await fixture.call("bash", { command: "pwd; echo oops >&2" });
    expect(output).toEqual({ exitCode: 0, stdout: `${fixture.directory}\n`, stderr: "oops\n" });
  });

  it("fails with the output when the command exits with another code than 0", async () => {
    const error = await failure(fixture.call("bash", { command: "echo out; echo err >&2; exit 3" }));
    expect(error.code).toBe("tool.failed");
    expect(error.message).toBe("the command exited with code 3");
    expect(error.output).toEqual({ exitCode: 3, stdout: "out\n", stderr: "err\n" });
  });

  it("names the signal that ended the shell", async () => {
    const error = await failure(fixture.call("bash", { command: "kill -SEGV $$" }));
    expect(error.code).toBe("tool.failed");
    expect(error.output).toMatchObject({ exitCode: null, signal: "SIGSEGV" });
  });

  it.each([
    ["an empty command", { command: "" }],
    ["a NUL", { command: "echo a\0b" }],
    ["a lone surrogate", { command: "echo \ud800" }],
    ["a command too long for the system", { command: `echo ${"x".repeat(120_000)}` }],
    ["a timeout above the maximum", { command: "true", timeoutMs: 600_001 }],
    ["a timeout of zero", { command: "true", timeoutMs: 0 }],
    ["a timeout that is text", { command: "true", timeoutMs: "5" }],
    ["an unknown field", { command: "true", timeout: 5 }],
    ["no object", "true"],
  ])("refuses %s", async (_, input) => {
    expect(await failureCode(fixture.prepare("bash", input))).toBe("tool.invalid_input");
  });

  it("shows what it passes on of the environment, and runs with that or not at all", async () => {
    vi.stubEnv("MY_EXTRA", "extra");
    await use({ env: ["MY_EXTRA"] });
    const prepared = await fixture.prepare("bash", { command: "echo $MY_EXTRA" });
    expect(prepared.preview).toBe(
      "Beside the usual variables, the command sees MY_EXTRA of your environment.",
    );
    expect(await run(prepared)).toMatchObject({ stdout: "extra\n" });
    const other = createWorkspaceAgent({ env: ["MY_EXTRA", "OTHER"] });
    expect(await failureCode(run({ ...prepared, agent: other }))).toBe("tool.changed");
  });

  it("passes on only the variables that are meant for commands", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-secret");
    vi.stubEnv("NODE_OPTIONS", "--no-warnings");
    vi.stubEnv("LC_TIME", "C");
    vi.stubEnv("MY_EXTRA", "extra");
    await use({ env: ["MY_EXTRA", "NOT_SET"] });
    const output = (await fixture.call("bash", { command: "env" })) as { stdout: string };
    const names = output.stdout.split("\n").map((line) => line.split("=")[0]);
    expect(names).toContain("PATH");
    expect(names).toContain("LC_TIME");
    expect(names).toContain("MY_EXTRA");
    expect(names).not.toContain("ANTHROPIC_API_KEY");
    expect(names).not.toContain("NODE_OPTIONS");
    expect(names).not.toContain("NOT_SET");
    // The shell itself adds these.
    const known = /^(PATH|HOME|LANG|LC_\w+|TERM|SHELL|USER|LOGNAME|TMPDIR|TZ|MY_EXTRA|PWD|OLDPWD|SHLVL|_|)$/;
    expect(names.filter((name) => !known.test(name ?? ""))).toEqual([]);
  });

  it("streams output while the command runs, without splitting characters", async () => {
    const seen: string[] = [];
    const log = (stream: string, text: string) => seen.push(`${stream}:${text}`);
    const command =
      "printf '\\xe2\\x82'; until [ -e go ]; do sleep 0.01; done; printf '\\xac'; until [ -e on ]; do sleep 0.01; done; echo e >&2";
    const call = fixture.call("bash", { command: `echo start; ${command}` }, { log });
    await until(() => seen.join("").includes("stdout:start\n"));
    await fixture.put("go", "");
    await until(() => seen.join("").includes("€"));
    await fixture.put("on", "");
    expect(await call).toEqual({ exitCode: 0, stdout: "start\n€", stderr: "e\n" });
    expect(seen.join("")).not.toContain("\ufffd");
    expect(seen).toContain("stderr:e\n");
  });

  it("keeps the head and the tail of long output and says how much is missing", async () => {
    await use({ limits: { maxOutputBytes: 1000, maxStreamedBytes: 2000 } });
    const seen: string[] = [];
    const command = "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo; echo last";
    const output = await fixture.call("bash", { command }, { log: (_, text) => seen.push(text) });
    expect(output).toMatchObject({ exitCode: 0, truncated: true, stderr: "" });
    const { stdout } = output as { stdout: string };
    expect(stdout.startsWith("first\nxxx")).toBe(true);
    expect(stdout.endsWith("xxx\nlast\n")).toBe(true);
    expect(stdout).toContain(`\n[… ${300_012 - 1000} bytes left out …]\n`);
    expect(stdout.length).toBeLessThan(1100);
    expect(seen.join("")).toHaveLength(2000 + (seen.at(-1)?.length ?? 0));
    expect(seen.at(-1)).toContain("not shown while the command runs");
  });

  it("ends a command that takes too long, with all it started", async () => {
    const command = "echo begun; sleep 300 & echo $! > child; echo $$ > shell; wait";
    const error = await failure(fixture.call("bash", { command, timeoutMs: 300 }));
    expect(error.code).toBe("tool.timeout");
    expect(error.output).toMatchObject({ exitCode: null, signal: "SIGTERM", stdout: "begun\n" });
    expect(isRunning(await pidIn("child"))).toBe(false);
    expect(isRunning(await pidIn("shell"))).toBe(false);
  });

  it("kills what ignores SIGTERM after the grace", async () => {
    await use({ limits: { killGraceMs: 100 } });
    const command = "trap '' TERM; echo $$ > shell; while true; do sleep 0.05; done";
    const error = await failure(fixture.call("bash", { command, timeoutMs: 300 }));
    expect(error.code).toBe("tool.timeout");
    expect(error.output).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(isRunning(await pidIn("shell"))).toBe(false);
  });

  it("is a timeout even if the command then exits with 0", async () => {
    const error = await failure(
      fixture.call("bash", {
        command: "trap 'exit 0' TERM; while true; do sleep 0.02; done",
        timeoutMs: 200,
      }),
    );
    expect(error.code).toBe("tool.timeout");
    expect(error.output).toMatchObject({ exitCode: 0 });
  });

  it("stops when the turn is cancelled", async () => {
    const controller = new AbortController();
    const call = failure(
      fixture.call("bash", { command: "echo $$ > shell; sleep 300" }, { signal: controller.signal }),
    );
    const shell = await pidIn("shell");
    expect(isRunning(shell)).toBe(true);
    controller.abort();
    const error = await call;
    expect(error.code).toBe("tool.canceled");
    expect(error.output).toMatchObject({ exitCode: null, signal: "SIGTERM" });
    expect(isRunning(shell)).toBe(false);
  });

  it("does not start when the turn is cancelled already", async () => {
    const prepared = await fixture.prepare("bash", { command: "touch started" });
    expect(await failureCode(run(prepared, { signal: AbortSignal.abort() }))).toBe("tool.canceled");
    expect(existsSync(fixture.path("started"))).toBe(false);
  });

  it.each([
    ["holding the output", "sleep 300 & echo $! > child"],
    ["holding nothing", "sleep 300 > /dev/null 2>&1 & echo $! > child"],
    ["deaf to SIGTERM and SIGHUP", "(trap '' TERM HUP; while true; do sleep 0.05; done) & echo $! > child"],
    ["in a job of its own", "set -m; sleep 300 & echo $! > child"],
  ])("ends a process left in the background %s, once the shell has ended", async (_, command) => {
    await use({ limits: { killGraceMs: 200 } });
    const output = await fixture.call("bash", { command: `${command}; echo done` });
    expect(output).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(isRunning(await pidIn("child"))).toBe(false);
  });

  it("settles although a process that left the session holds the output", async () => {
    const output = await fixture.call("bash", {
      // The shell waits: what has not left its session yet ends with it.
      command:
        "setsid sh -c 'echo $$ > child; exec sleep 300' & until [ -s child ]; do sleep 0.01; done; echo done",
    });
    expect(output).toMatchObject({ exitCode: 0, stdout: "done\n" });
    process.kill(await pidIn("child"), "SIGKILL");
  });

  it("fails safely when the workspace is gone", async () => {
    const prepared = await fixture.prepare("bash", { command: "true" });
    await fixture[Symbol.asyncDispose]();
    const error = await failure(run(prepared));
    expect(error.code).toBe("tool.failed");
    expect(error.message).not.toContain(fixture.base);
  });
});
