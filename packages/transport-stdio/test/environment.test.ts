import { describe, expect, it } from "vitest";
import { childEnvironment } from "../src/child-environment.ts";

describe("the child's environment", () => {
  it("is an allow-list on POSIX systems", () => {
    const kept = {
      ...{ PATH: "/bin", HOME: "/home/a", LANG: "C", LC_ALL: "C.UTF-8", LC_TIME: "C", LANGUAGE: "en" },
      ...{ TERM: "xterm", SHELL: "/bin/sh", USER: "a", LOGNAME: "a", TMPDIR: "/tmp", TZ: "UTC" },
    };
    const left = {
      API_KEY: "secret",
      NODE_OPTIONS: "--inspect",
      LD_PRELOAD: "x.so",
      UNSET: undefined,
      path: "l",
    };
    const source = { ...kept, ...left };
    expect(childEnvironment({ source, platform: "linux", inheritEnv: [], env: {} })).toEqual(kept);
  });

  it("is another allow-list on Windows, where names have no case", () => {
    const names = {
      Path: "C:\\bin",
      SystemRoot: "C:\\Windows",
      ComSpec: "cmd.exe",
      windir: "C:\\Windows",
      PATHEXT: ".EXE",
      TEMP: "t",
      TMP: "t",
      USERPROFILE: "u",
      USERNAME: "a",
      APPDATA: "d",
      LOCALAPPDATA: "l",
      ProgramData: "p",
      ProgramFiles: "f",
      HOMEDRIVE: "C:",
      HOMEPATH: "\\a",
      SystemDrive: "C:",
      PROCESSOR_ARCHITECTURE: "AMD64",
    };
    const windowsSource = { ...names, API_KEY: "secret", LC_ALL: "C", HOME: "h" };
    expect(childEnvironment({ source: windowsSource, platform: "win32", inheritEnv: [], env: {} })).toEqual(
      names,
    );
    expect(
      childEnvironment({
        source: { Path: "theirs", Api_Key: "k" },
        platform: "win32",
        inheritEnv: ["API_KEY"],
        env: { PATH: "ours" },
      }),
    ).toEqual({ PATH: "ours", Api_Key: "k" });
  });

  it("has what the caller names and what the caller gives, which wins", () => {
    const inheritEnv = ["API_KEY", "EMPTY", "UNSET", "MISSING"];
    const env = { API_KEY: "given", TOKEN: "t" };
    const small = { API_KEY: "secret", EMPTY: "", UNSET: undefined };
    expect(childEnvironment({ source: small, platform: "linux", inheritEnv, env })).toEqual({
      API_KEY: "given",
      EMPTY: "",
      TOKEN: "t",
    });
  });
});
