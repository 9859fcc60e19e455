import { describe, expect, it } from "vitest";
import { binPath, failure, makeWorkspace, startProgram } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const commands = [[], ["run"], ["threads", "list"]];

describe("the command line", () => {
  it.each(commands.map((command) => [command]))("%j --help shows an example and exits 0", async (command) => {
    const cwd = await makeWorkspace();
    const end = await harness([...command, "--help"], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toMatch(/Usage: harness/);
    expect(end.stdout).toMatch(/Example:\n {2}\S/);
  });

  it("shows its version", async () => {
    const cwd = await makeWorkspace();
    const end = await harness("--version", { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  });

  it.each([["threads", "list"], ["run", "x"], ["serve"], ["doctor"]])(
    "%s says that the directory it was started in is gone: exit code 2",
    async (...args) => {
      const cwd = await makeWorkspace();
      const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
      const end = await startProgram("sh", ["-c", script, process.execPath, binPath, ...args], {
        cwd,
        input: "",
      }).ended;
      expect(end).toMatchObject(
        failure(2, "The directory that this was started in does not exist any more\n  Go to"),
      );
      expect(end.stderr).not.toMatch(/\n\s+at /);
    },
  );

  it("shows what hides in a wrong argument", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "x", "--mo\u001b[31mdel"], { cwd });
    expect(end).toMatchObject(failure(2, "⟨U+001B⟩"));
    expect(end.stderr).not.toContain("\u001b");
  });
});
