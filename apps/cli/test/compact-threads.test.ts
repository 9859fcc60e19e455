import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { harness } from "./support/in-process.ts";

it("/compact of harness chat has a conversation summarised, once, and not while a call waits", async () => {
  await using directory = await temporaryDirectory();
  const at = { cwd: directory.path };
  const chat = (input: string) => harness(["chat", "--session", "s1"], { ...at, input });
  const made = await chat("list files\n/compact\n/compact\nlist files\n");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/3 messages and 1 tool call .*no longer given to the model/);
  expect(made.stdout).toContain("Nothing to summarise: nothing was said since the last summary.");
  expect(made.stdout).not.toContain("(no answer)");
  const waits = await chat("write notes.txt: milk\n/compact\n/reject\n/compact\n");
  expect(waits.stdout).toContain("a turn of it waits for an answer");
  expect(waits.stdout).toMatch(/9 messages and 3 tool calls .*no longer given to the model/);
});

it("the prompt /compact of harness run has a thread's turns summarised in place of a turn of its own", async () => {
  await using directory = await temporaryDirectory();
  const at = { cwd: directory.path };
  await harness(["run", "list files"], at);
  const [threadId = ""] = (await readdir(join(directory.path, ".harness", "threads"))).filter((name) =>
    name.startsWith("ses_"),
  );
  const made = await harness(["run", "--thread", threadId, "/compact"], at);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout + made.stderr).toContain("no longer given to the model");
  expect((await harness(["threads", "show", threadId], at)).stdout).toContain("no longer given to the model");
  const again = await harness(["run", "--thread", threadId, "/compact"], at);
  expect(again).toMatchObject({ code: 0, stdout: "" });
  expect(again.stderr).not.toContain("no longer given to the model");
});
