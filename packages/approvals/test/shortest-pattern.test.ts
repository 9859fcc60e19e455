import type { JsonObject } from "@harnesskit/protocol/envelope";
import { expect, it } from "vitest";
import {
  type ApprovalRecord,
  createMemoryApprovalStore,
  ruleOfAnswer,
  shortestPattern,
  startOfCall,
} from "../src/index.ts";
import { sampleQuestion } from "../src/testing/samples.ts";

const recordOf = async (
  command: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ApprovalRecord> => {
  const store = createMemoryApprovalStore();
  const { record } = await store.ask(sampleQuestion({ subject: { input: { command, ...more } } }));
  await store.close();
  return record;
};

it.each([
  ["npm test -- --watch src/a.ts", "npm test"],
  ["pnpm run build:docs --force", "pnpm run build:docs"],
  ["cargo clippy", "cargo clippy"],
  ["make test", "make test"],
])("allows what %s begins with, and its other fields as they are", async (command, startsWith) => {
  const record = await recordOf(command, { cwd: "/work" });
  expect(shortestPattern(record)).toEqual({ command: { startsWith }, cwd: { is: "/work" } });
  expect(ruleOfAnswer(record)?.covers).toBe(`${startsWith}*`);
  expect(startOfCall(record.subject)).toEqual({ command: startsWith, cwd: "/work" });
});

it.each([
  ...[
    "npm test; rm -rf .",
    "npm test && ls",
    "npm test | sh",
    "npm test $(id)",
    "npm test `id`",
    "npm test\nls",
  ],
  ...[
    "npm test > out.txt",
    "npm test 'a b'",
    "npm test ../other",
    "FOO=1 npm test",
    "npm test\r",
    "npm test\u0000",
  ],
  ...[
    "rm -rf build",
    "git push",
    "curl example.org",
    "npm run --silent x",
    "npm exec x",
    "npm",
    "sudo npm test",
  ],
  ...["npm\ttest", "npm  test", "npm testing", "npm test\u00a0x", "npm test &", "npm test ~/x", "npm test *"],
])("allows %j exactly or not at all", async (command) => {
  const record = await recordOf(command);
  expect(shortestPattern(record)).toBeUndefined();
  expect(startOfCall(record.subject)).toBeUndefined();
  expect(ruleOfAnswer(record)?.covers ?? "exactly this").toBe("exactly this");
});

it.each([
  ...["make test -C /tmp/x", "make test -C/tmp/x", "npm test --prefix=/tmp/x", "npm test -- a,/tmp/b"],
  ...["npm test //host/x", "cargo check https://example.org/x", "deno test npm:x", "deno test"],
])("allows %j for exactly this: what it runs may be another project", async (command) => {
  const record = await recordOf(command);
  expect(startOfCall(record.subject)).toBeUndefined();
  expect(ruleOfAnswer(record)?.covers).toBe("exactly this");
});

it("a start stands for calls of its tool whose other fields are the same, and for a field of that name in no other tool", () => {
  const startOf = (input: JsonObject, tool = "bash") => startOfCall({ tool, input });
  expect(startOf({ command: "npm test a", background: true, timeoutMs: 5 })).toEqual({
    ...{ command: "npm test", background: true, timeoutMs: 5 },
  });
  expect(startOf({ command: "npm test a" }, "files_bash")).toBeUndefined();
  expect(startOf({ command: ["npm test"] })).toBeUndefined();
});
