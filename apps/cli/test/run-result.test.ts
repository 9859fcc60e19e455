import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const resultOf = (stdout: string) => jsonLines(stdout).at(-1)?.data;

describe("the result of harness run --json", () => {
  it("counts the calls that did not run, where a completed turn ends with 3", async () => {
    const cwd = await makeWorkspace();
    const args = ["run", "--no-policy", "--approve", "reject", "--json", "run the command: ls"];
    const { code, stdout } = await harness(args, { cwd });
    expect(code).toBe(3);
    expect(resultOf(stdout)).toMatchObject({ status: "completed", exitCode: 3, refusedCalls: 1 });
  });

  it("is a usage error for a file that is not there, and makes no thread", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "--no-policy", "--file", "nofile", "hi"], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain("nofile does not exist");
    expect((await harness(["threads", "list", "--json"], { cwd })).stdout).toBe(
      '{"threads":[],"chats":[]}\n',
    );
  });
});
