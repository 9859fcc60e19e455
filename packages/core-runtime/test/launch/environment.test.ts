import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { launchEnvironment } from "../../src/launch/launch-environment.ts";
import { resolveCommand } from "../../src/launch/resolve-command.ts";

describe("an agent's environment", () => {
  const given = {
    socketPath: "/run/x/core",
    token: "secret",
    launchId: "lch_1",
    heartbeatIntervalMs: 250,
    maxFrameBytes: 65_536,
  };
  const harness = {
    HARNESS_AGENT_SOCKET: "/run/x/core",
    HARNESS_SESSION_TOKEN: "secret",
    HARNESS_LAUNCH_ID: "lch_1",
    HARNESS_HEARTBEAT_INTERVAL_MS: "250",
    HARNESS_MAX_FRAME_BYTES: "65536",
  };

  it("has a few names of the core's, and where the core is", () => {
    const common = {
      PATH: "/bin",
      HOME: "/home/x",
      LANG: "C",
      LANGUAGE: "de",
      LC_ALL: "C",
      LC_TIME: "C",
      LOGNAME: "x",
      SHELL: "/bin/sh",
      TERM: "dumb",
      TMPDIR: "/tmp",
      TZ: "UTC",
      USER: "x",
    };
    const source = {
      ...common,
      AWS_SECRET_ACCESS_KEY: "s",
      NODE_OPTIONS: "--require x",
      LD_PRELOAD: "x",
      LC: "x",
    };
    expect(launchEnvironment({ source, names: [], ...given })).toEqual({ ...common, ...harness });
  });

  it("has the names of the manifest that the core has, and never those of another launch", () => {
    const source = { API_KEY: "k", EMPTY: "", HARNESS_SESSION_TOKEN: "old", HARNESS_LAUNCH_ID: "old" };
    const names = ["API_KEY", "EMPTY", "MISSING", "HARNESS_SESSION_TOKEN"];
    expect(launchEnvironment({ source, names, ...given })).toEqual({ API_KEY: "k", EMPTY: "", ...harness });
  });
});

describe("a command", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "hk-command-"));
    await mkdir(join(directory, "bin"));
    await writeFile(join(directory, "bin", "program"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(join(directory, "bin", "text"), "", { mode: 0o644 });
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const resolve = (command: string, path: string | undefined = "/usr/bin:/bin") =>
    resolveCommand({ command, directory, path });

  it("with a slash is taken from the manifest's directory, another from the PATH", async () => {
    const program = join(directory, "bin", "program");
    expect(await resolve("./bin/program")).toBe(program);
    expect(await resolve("bin/program")).toBe(program);
    expect(await resolve(program)).toBe(program);
    expect(await resolve("program", `/nothing:${join(directory, "bin")}:/bin`)).toBe(program);
    expect(await resolve("program", "bin")).toBe(program);
    expect(await resolve("sh", undefined)).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  it("that is not there or may not be run is refused with a sentence that says what to do", async () => {
    const refusal = (code: string) => ({ name: "SpawnError", code });
    await expect(resolve("nothing-of-this-name")).rejects.toMatchObject(refusal("command_not_found"));
    await expect(resolve("./nothing")).rejects.toMatchObject(refusal("command_not_found"));
    await expect(resolve("./bin")).rejects.toMatchObject(refusal("command_not_executable"));
    await expect(resolve("./bin/text")).rejects.toMatchObject(refusal("command_not_executable"));
    await expect(resolve("-\u001b[31m")).rejects.toMatchObject({
      message: expect.not.stringContaining("\u001b") as string,
    });
  });
});
