import { describe, expect, it } from "vitest";
import { failure, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

describe("harness conformance", () => {
  it("hands its arguments to the suite, help included", async () => {
    const cwd = await makeWorkspace();
    const help = await harness(["conformance", "--help"], { cwd, input: "" });
    expect(help).toMatchObject({ code: 0 });
    expect(help.stdout).toMatch(/Suites: ahp-server, ahp-client, [\s\S]*threads-server, threads-client/);
    const list = await harness(["conformance", "threads-server", "--list"], { cwd, input: "" });
    expect(list.stdout).toMatch(/^check {2}THR-12 +SAFETY/m);
  });

  it("judges a target, with the exit codes of the suite", async () => {
    const cwd = await makeWorkspace();
    const judge = (...args: string[]) => harness(["conformance", "ahp-server", ...args], { cwd, input: "" });
    const echo = await judge("--stdio", "cat", "--only", "AHP-10", "--within", "200");
    expect(echo.stdout).toContain("ahp-server 2.4 over stdio");
    expect(echo.code).toBe(1);
    expect(await judge()).toMatchObject(failure(2, "name one target"));
    const gone = await judge("--unix", "nothing.sock", "--only", "AHP-10");
    expect(gone).toMatchObject(failure(4, "cannot be reached"));
  });
});
