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
  ...["npm test > out.txt", "npm test 'a b'", "npm test ../other", "FOO=1 npm test"],
  ...[
    "rm -rf build",
    "git push",
    "curl example.org",
    "npm run --silent x",
    "npm exec x",
    "npm",
    "sudo npm test",
  ],
])("allows %j exactly or not at all", async (command) => {
  const record = await recordOf(command);
  expect(shortestPattern(record)).toBeUndefined();
  expect(startOfCall(record.subject)).toBeUndefined();
  const rule = ruleOfAnswer(record);
  expect(rule?.covers ?? "exactly this").toBe("exactly this");
});
