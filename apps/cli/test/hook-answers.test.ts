import { expect, it } from "vitest";
import { hookProgramProblem } from "../src/guard/guard-context.ts";
import { binPath, makeWorkspace } from "./support/harness.ts";

it("tells the hook's program from a program that is missing, does not end, or answers something else", async () => {
  const cwd = await makeWorkspace();
  const node = process.execPath;
  const problem = (...words: [string, ...string[]]) => hookProgramProblem(words, { cwd });
  expect(await problem(node, binPath, "guard", "hook")).toBeUndefined();
  expect(await problem(node, binPath)).toBe("does not answer as the hook's program does");
  expect(await problem("no-such-program")).toBe("is not there");
  const waiting = [node, "-e", "setInterval(() => {}, 1000)", "--"] as const;
  expect(await hookProgramProblem(waiting, { cwd, timeoutMs: 200 })).toBe("does not answer in 0.2 s");
});
