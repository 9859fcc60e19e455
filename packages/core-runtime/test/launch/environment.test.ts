import { describe, expect, it } from "vitest";
import { launchEnvironment } from "../../src/launch/agent-run.ts";

describe("an agent's environment", () => {
  const given = {
    socket: "/run/x/core",
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
    expect(launchEnvironment(source, [], given)).toEqual({ ...common, ...harness });
  });

  it("has the names of the manifest that the core has, and never those of another launch", () => {
    const source = { API_KEY: "k", EMPTY: "", HARNESS_SESSION_TOKEN: "old", HARNESS_LAUNCH_ID: "old" };
    const names = ["API_KEY", "EMPTY", "MISSING", "HARNESS_SESSION_TOKEN"];
    expect(launchEnvironment(source, names, given)).toEqual({ API_KEY: "k", EMPTY: "", ...harness });
  });
});
