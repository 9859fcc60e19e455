import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { approvalSubject, ShellResponseSchema } from "@harnesskit/protocol/openharness";
import { digest } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { makeWorkspace, startProcess } from "../support/harness.ts";
import { newSchema } from "../support/postgres.ts";

it("an answer to a question of one engine is taken by another one with the same store, once", async () => {
  const cwd = await makeWorkspace();
  const { env } = newSchema();
  const start = async (name: string) => {
    const args = ["engine", "--store", "postgres:", "--no-auth", "--no-installed-agents"];
    const state = join(cwd, name);
    const program = startProcess(args, { cwd, env: { ...env, XDG_STATE_HOME: state } });
    const [, url = ""] = await program.reports(/listening on (http:\/\/127\.0\.0\.1:\d+\/openharness)/);
    const post = async (context: object) => {
      const capabilities = { "openharness.ui.rich_cards": true, "openharness.ui.approval": true };
      const request = { context: { session_id: "s1", ...context } };
      const body = JSON.stringify({ protocol_version: "1.0.0", capabilities, request });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body });
      return ShellResponseSchema.parse(await answer.json()).response.action_directives ?? [];
    };
    return { program, post };
  };
  const [one, other] = [await start("one"), await start("other")];
  const asked = await one.post({ user_intent: "write milk.txt: two litres" });
  const question = asked.find(({ action_type: type }) => type === "request_approval");
  if (question === undefined) throw new TypeError("nothing was asked");
  one.program.kill("SIGKILL");
  await one.program.ended;
  const approval = { decision: "approved", digest: await digest(approvalSubject(question)) };
  const answer = {
    continuation: question.payload?.continuation,
    extensions: { "dev.harnesskit": { approval } },
  };
  expect(JSON.stringify(await other.post(answer))).toContain("I wrote `milk.txt`.");
  expect(await readFile(join(cwd, "milk.txt"), "utf8")).toBe("two litres");
  expect(JSON.stringify(await other.post(answer))).not.toContain("I wrote `milk.txt`.");
  other.program.kill("SIGTERM");
  await other.program.ended;
});
