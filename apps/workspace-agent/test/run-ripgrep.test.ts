import { execFileSync, spawnSync } from "node:child_process";
import { readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { Deadline } from "../src/deadline.ts";
import { findRipgrep } from "../src/index.ts";
import { runRipgrep } from "../src/ripgrep.ts";
import { Fixture, failure, failureCode, run } from "./support/fixture.ts";
import { isRunning } from "./support/processes.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await Fixture.create();
  await fixture.put("a", "needle\n");
});
afterEach(() => fixture[Symbol.asyncDispose]());

const match = { matches: [{ path: "a", line: 1, text: "needle" }] };

/** An agent whose ripgrep is a shell script. */
const withScript = async (script: string, options: object = {}): Promise<Fixture> => {
  const path = join(fixture.outside, "rg");
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const scripted = await Fixture.create({ ...options, ripgrepPath: path });
  await scripted.put("a", "needle\n");
  return scripted;
};

describe("ripgrep", () => {
  it("comes with the agent, and needs nothing on the path", async () => {
    const { PATH } = process.env;
    process.env.PATH = "";
    try {
      expect(execFileSync(await findRipgrep(), ["--version"], { encoding: "utf8" })).toMatch(/^ripgrep 15\./);
      expect(await fixture.call("grep", { pattern: "needle" })).toEqual(match);
      expect(await fixture.call("glob", { pattern: "*" })).toEqual({ paths: ["a"] });
    } finally {
      process.env.PATH = PATH;
    }
  });

  it("that is missing for this machine is reported with the package to install", async () => {
    // What the package does on a machine that it has no executable for, or where the installation left it out.
    const index = fileURLToPath(new URL("../dist/index.js", import.meta.url));
    const script = `import { createWorkspaceAgent } from ${JSON.stringify(index)};
      const context = { project_root: ${JSON.stringify(fixture.directory)} };
      const call = (tool, input) => createWorkspaceAgent().call(tool, input, { context })
        .catch((error) => console.log(error.code + ": " + error.message));
      await call("grep", { pattern: "x" });
      await call("glob", { pattern: "x" });
      await call("read", { path: "a" }).then((output) => console.log(output.text));`;
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      env: { npm_config_arch: "none" },
      encoding: "utf8",
    });
    const missing = `tool.ripgrep_missing: ripgrep, which searches the workspace, is not installed: install the optional dependency @vscode/ripgrep-${process.platform}-${process.arch} (npm install --include=optional)`;
    expect(stdout).toBe(`${missing}\n${missing}\nneedle\n\n`);
    expect(status).toBe(0);
  });

  it("that is not where an option says is reported as missing", async () => {
    await using none = await Fixture.create({ ripgrepPath: join(fixture.outside, "none") });
    expect(await failureCode(none.call("glob", { pattern: "*" }))).toBe("tool.ripgrep_missing");
    expect(await failureCode(none.call("grep", { pattern: "x" }))).toBe("tool.ripgrep_missing");
  });

  it("reads no configuration file, and sees no variable of the agent's environment", async () => {
    const config = join(fixture.outside, "ripgreprc");
    await writeFile(config, "--invert-match\n--follow\n");
    process.env.RIPGREP_CONFIG_PATH = config;
    try {
      expect(await fixture.call("grep", { pattern: "needle" })).toEqual(match);
      await using scripted = await withScript('env > "$0.env"; exit 1');
      await scripted.call("glob", { pattern: "*" });
    } finally {
      delete process.env.RIPGREP_CONFIG_PATH;
    }
    const seen = await fixture.listing(fixture.outside);
    const names = seen["rg.env"]?.split("\n").map((line) => line.replace(/=.*/, ""));
    expect(names?.filter((name) => !["", "PWD", "OLDPWD", "SHLVL", "_"].includes(name))).toEqual([]);
  });

  it("that fails is a failure of the call, without a path of this machine", async () => {
    await using scripted = await withScript('echo "rg: /some/where: broken" >&2; exit 2');
    const { code, message } = await failure(scripted.call("glob", { pattern: "*" }));
    expect({ code, message }).toEqual({ code: "tool.failed", message: "ripgrep could not search the files" });
  });

  it("that cannot be started because the directory is gone is not reported as missing", async () => {
    const deadline = new Deadline(new AbortController().signal, 10_000);
    const call = runRipgrep({
      executable: await findRipgrep(),
      args: ["--files"],
      directory: fixture.path("gone"),
      deadline,
      onOutput: () => true,
    });
    expect(await failureCode(call)).toBe("tool.failed");
  });

  it("is killed at the deadline and when the call is cancelled", async () => {
    await using slow = await withScript('echo $$ > "$0.pid"; exec sleep 300', {
      limits: { searchTimeoutMs: 300 },
    });
    expect(await failureCode(slow.call("glob", { pattern: "*" }))).toBe("tool.timeout");
    const pid = async () => Number((await fixture.listing(fixture.outside))["rg.pid"]);
    expect(isRunning(await pid())).toBe(false);

    await using patient = await withScript('echo $$ > "$0.second"; exec sleep 300');
    const controller = new AbortController();
    const prepared = await patient.prepare("glob", { pattern: "*" });
    const call = failureCode(run(prepared, { signal: controller.signal }));
    const second = async () => (await fixture.listing(fixture.outside))["rg.second"] ?? "";
    await until(async () => (await second()).endsWith("\n"));
    controller.abort();
    expect(await call).toBe("tool.canceled");
    await until(async () => !isRunning(Number(await second())));
  });

  it("is ended once it has listed as many files as may be searched", async () => {
    await using endless = await withScript("while :; do printf 'a\\0'; done", {
      limits: { maxSearchedFiles: 10 },
    });
    expect(await endless.call("glob", { pattern: "*" })).toEqual({
      paths: Array(10).fill("a"),
      truncated: true,
    });
  });

  it.runIf(process.platform === "linux").each([
    ["is a link to a device without end", () => symlink("/dev/zero", fixture.path(".gitignore"))],
    [
      "is larger than the memory",
      async () => {
        await fixture.put(".gitignore", "");
        await truncate(fixture.path(".gitignore"), 64 * 1024 ** 3);
      },
    ],
  ])("has bounded memory where a .gitignore %s", async (_, prepare) => {
    await prepare();
    const { code, message } = await failure(fixture.call("glob", { pattern: "*" }));
    expect({ code, message }).toEqual({
      code: "tool.failed",
      message: expect.stringContaining(".gitignore"),
    });
    expect(await fixture.call("glob", { pattern: "a", all: true })).toEqual({ paths: ["a"] });
    expect(await readdir(fixture.directory)).not.toContain("core");
  });

  it("has bounded time where a .gitignore is a FIFO", async () => {
    await using waiting = await Fixture.create({ limits: { searchTimeoutMs: 300 } });
    execFileSync("mkfifo", [waiting.path(".gitignore")]);
    expect(await failureCode(waiting.call("glob", { pattern: "*" }))).toBe("tool.timeout");
  });
});
