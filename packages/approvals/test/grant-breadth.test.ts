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

/** What giving a grant for each command that begins like this comes to. */
const givenStart = (startsWith: string): Promise<string> =>
  given({ command: `${startsWith}x` }, { command: { startsWith } });

describe("a grant", () => {
  it.each<[JsonObject, InputPattern, string]>([
    [{ path: "/etc/passwd" }, { path: { under: "//" } }, "must be a path without //"],
    [{ path: "/etc/passwd" }, { path: { under: "/" } }, "every path of the machine"],
    [{ path: "/a/b" }, { path: { under: "/a/../a" } }, "must be a path without //"],
    [{ command: " ls" }, { command: { startsWith: " " } }, "says nothing about the value"],
    [{ command: "ls" }, { command: { any: true } }, "every command"],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org" } }, "end it with /"],
    [{ url: "https://a@b.org/x" }, { url: { startsWith: "https://a@b.org/" } }, "end it with /"],
  ])(
    "that would allow far more than it says is refused by name: %j with %j",
    async (input, pattern, reason) => {
      expect(await given(input, pattern)).toMatch(/^grant_too_wide: the pattern of "/);
      expect(await given(input, pattern)).toContain(reason);
    },
  );

  it.each<[JsonObject, InputPattern]>([
    [{ path: "/work/src/a.ts" }, { path: { under: "/work/src/" } }],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org/" } }],
    [{ command: "sudo rm x" }, { command: { is: "sudo rm x" } }],
  ])("whose pattern says what it allows is given: %j with %j", async (input, pattern) => {
    expect(await given(input, pattern)).toBe("given");
  });
});

describe("the start of a command", () => {
  it.each([
    ...[
      "curl ",
      "cat src/",
      "npm run ",
      "npm test",
      "cargo build",
      "go test",
      "git status",
      "pnpm run build",
    ],
  ])("may be a grant where it names the program that runs: %j", async (start) => {
    expect(await givenStart(start)).toBe("given");
  });

  it.each<readonly [string, string]>([
    ["c", "may go on: end it with a space"],
    ["curl", "may go on: end it with a space"],
    ...[
      "timeout 60 ",
      "sudo rm ",
      "/usr/bin/env x ",
      "bash x.sh ",
      "python3.12 -m pytest ",
      "npx vitest ",
    ].map((start) => [start, "runs what its arguments say"] as const),
    ...["ssh host ", "docker run ", "find . -name ", "xargs rm ", "sh -c ", "if ", "SUDO ", "sudo.exe "].map(
      (start) => [start, "runs what its arguments say"] as const,
    ),
    ...[
      "git ",
      "npm ",
      "npm ex",
      "npm exec ",
      "pnpm d",
      "pnpm nod",
      "yarn git ",
      "cargo run ",
      "go run ",
    ].map((start) => [start, "subcommand"] as const),
    ["git -c x=y ", "option before its subcommand"],
    ...["A=1 ls ", "-x "].map((start) => [start, "not the name of a program"] as const),
    ...["'timeout' 60 ", "\\sudo ", "$S ", "ls && ", "ls | ", "ls; ", "ls\n"].map(
      (start) => [start, "characters that a shell may interpret"] as const,
    ),
  ])("is refused where it does not: %j", async (start, reason) => {
    const answer = await givenStart(start);
    expect(answer).toMatch(/^grant_too_wide: /);
    expect(answer).toContain(reason);
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
