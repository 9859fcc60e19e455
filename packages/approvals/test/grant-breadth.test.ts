import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describe, expect, it } from "vitest";
import {
  ApprovalError,
  createMemoryApprovalStore,
  type FieldPattern,
  type InputPattern,
  presentGrant,
} from "../src/index.ts";

/** What giving a grant for this input comes to. */
const given = async (input: JsonObject, pattern: InputPattern): Promise<string> => {
  const store = createMemoryApprovalStore();
  const { record } = await store.ask({
    origin: { agent: "a", session: "s" },
    subject: { tool: "t", input },
    rule: { id: "r", reason: "asks" },
  });
  const always = { reach: "agent", input: pattern } as const;
  const answer = { type: "answer", decision: "approve", by: "ada", digest: record.digest, always } as const;
  try {
    await store.apply(record.id, answer);
    return "given";
  } catch (error) {
    if (!ApprovalError.isInstance(error)) throw error;
    expect((await store.get(record.id))?.status).toBe("pending");
    return `${error.code}: ${error.message}`;
  }
};

describe("a grant that would allow far more than it says", () => {
  it.each<[JsonObject, InputPattern, string]>([
    [{ path: "/etc/passwd" }, { path: { under: "//" } }, "must be a path without //"],
    [{ path: "/etc/passwd" }, { path: { under: "/" } }, "every path of the machine"],
    [{ path: "/a/b" }, { path: { under: "/a/../a" } }, "must be a path without //"],
    [{ command: "curl x" }, { command: { startsWith: "c" } }, "may go on: end it with a space"],
    [{ command: "curl x" }, { command: { startsWith: "curl" } }, "may go on: end it with a space"],
    [{ command: " ls" }, { command: { startsWith: " " } }, "says nothing about the value"],
    [{ command: "bash x.sh" }, { command: { startsWith: "bash " } }, '"bash" runs whatever follows'],
    [{ command: "sudo -u root rm x" }, { command: { startsWith: "sudo -u " } }, "runs whatever follows"],
    [{ command: "/usr/bin/env x" }, { command: { startsWith: "/usr/bin/env " } }, "runs whatever follows"],
    [{ command: "A=1 sh x" }, { command: { startsWith: "A=1 sh " } }, "runs whatever follows"],
    [{ command: "sudo rm x" }, { command: { startsWith: "sudo r" } }, "may go on: end it with a space"],
    [{ command: "ls" }, { command: { any: true } }, "every command"],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org" } }, "end it with /"],
    [{ url: "https://a@b.org/x" }, { url: { startsWith: "https://a@b.org/" } }, "end it with /"],
  ])("is refused by name: %j with %j", async (input, pattern, reason) => {
    expect(await given(input, pattern)).toMatch(/^grant_too_wide: the pattern of "/);
    expect(await given(input, pattern)).toContain(reason);
  });

  it.each<[JsonObject, InputPattern]>([
    [{ path: "/work/src/a.ts" }, { path: { under: "/work/src/" } }],
    [{ command: "curl https://a.org/x" }, { command: { startsWith: "curl " } }],
    [{ command: "sudo apt update" }, { command: { startsWith: "sudo apt " } }],
    [{ command: "python -m pytest a" }, { command: { startsWith: "python -m pytest " } }],
    [{ command: "npm test" }, { command: { startsWith: "npm test" } }],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org/" } }],
  ])("is given where its pattern says what it allows: %j with %j", async (input, pattern) => {
    expect(await given(input, pattern)).toBe("given");
  });
});

const warnings = (input: Record<string, FieldPattern>): readonly string[] =>
  presentGrant({ agent: "a", tool: "t", expiresAtMs: 1, match: { input } }).filter((line) =>
    line.startsWith("careful: "),
  );

it("a grant says in its lines where it is wider than it looks", () => {
  expect(warnings({ command: { startsWith: "curl " } })).toEqual([
    'careful: "curl " may go on with any option, file and address as arguments',
  ]);
  expect(warnings({ path: { under: "/etc" } })).toEqual([
    'careful: "/etc" is a directory of the system, with all that is in it',
  ]);
  expect(warnings({ branch: { startsWith: "main" } })).toEqual([
    'careful: "main" may go on within the same word, such as "main-x"',
  ]);
  expect(warnings({ a: { any: true }, b: { any: true } })).toEqual([
    "careful: every call of this tool is allowed, whatever its input",
  ]);
  expect(warnings({ path: { under: "/work/src" }, n: { is: 1 } })).toEqual([]);
});
