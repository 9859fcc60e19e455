import { createHash } from "node:crypto";
import { commandJudge } from "@harnesskit/command-judge";
import { createPolicyHarness } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";
import { canonicalJson, shellWord } from "@harnesskit/wire";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../src/acp/command-line.ts";
import { acpAction, acpEvent, readAcp, withPrompt } from "../src/acp/index.ts";

const workspace = "/work/app";
const sha256 = (content: string): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const digest = (block: unknown): string => sha256(canonicalJson(block));
const long = (of: string) => ({ type: "resource", resource: { uri: "file:///a", text: of.repeat(70_000) } });
const toolCall = (call: object, agent?: string) =>
  acpAction({ toolCallId: "c1", ...call } as never, { workspace, agent });
const request = (method: string, params: object, agent?: string) =>
  readAcp(method as never, { sessionId: "s", ...params } as never, { workspace, agent, digest: sha256 });

/** As Gemini CLI 0.61.0 has sent it. */
const geminiCommand = {
  toolCall: {
    toolCallId: "run_shell_command__run_shell_command_1795557167800_0",
    status: "pending",
    title: "touch made.txt && ls",
    content: [
      {
        type: "content",
        content: { type: "text", text: `[current working directory ${workspace}] (make it)` },
      },
    ],
    locations: [],
    kind: "execute",
  },
  options: [
    { optionId: "proceed_always", name: "Allow for this session", kind: "allow_always" },
    { optionId: "proceed_once", name: "Allow", kind: "allow_once" },
    { optionId: "cancel", name: "Reject", kind: "reject_once" },
  ],
};

describe("a tool call of ACP", () => {
  const file = { type: "diff", path: "/work/app/a.txt", newText: "new" };
  const cases: readonly [string, object, object][] = [
    [
      "a command",
      { kind: "execute", rawInput: { command: "npm test" } },
      { tool: "bash", arguments: { command: "npm test", cwd: workspace } },
    ],
    [
      "a command as an array, elsewhere",
      { kind: "execute", rawInput: { command: ["bash", "-lc", "rm -rf /"], cwd: "/tmp" } },
      { tool: "bash", arguments: { command: "bash -lc 'rm -rf /'", cwd: "/tmp" } },
    ],
    [
      "a new file",
      { kind: "edit", content: [file] },
      { tool: "write", arguments: { path: "/work/app/a.txt", content: "new" } },
    ],
    [
      "a change of a file",
      { kind: "edit", content: [{ ...file, oldText: "old" }], locations: [{ path: file.path }] },
      { tool: "edit", arguments: { path: file.path, old_text: "old", new_text: "new" } },
    ],
    [
      "a change that is only in the input",
      { kind: "edit", rawInput: { file_path: "/a", old_string: "x", new_string: "y" } },
      { tool: "edit", arguments: { path: "/a", old_text: "x", new_text: "y" } },
    ],
    [
      "a file that is read",
      { kind: "read", locations: [{ path: "/etc/passwd" }] },
      { tool: "read", arguments: { path: "/etc/passwd" } },
    ],
    [
      "a search",
      { kind: "search", rawInput: { pattern: "KEY", path: "." } },
      { tool: "grep", arguments: { pattern: "KEY", path: "." } },
    ],
    [
      "a page",
      { kind: "fetch", rawInput: { url: "https://a.example", prompt: "p" } },
      { tool: "fetch", arguments: { url: "https://a.example" } },
    ],
    [
      "a tool of an MCP server",
      { kind: "other", name: "mcp__files__read", rawInput: { path: "a" } },
      { tool: "mcp__files__read", kind: "mcp", server: "files", arguments: { path: "a" } },
    ],
  ];

  it.each(cases)("is %s", (_, call, expected) => {
    expect(toolCall({ title: "t", ...call })).toMatchObject(expected);
  });

  const unknown: readonly [string, object][] = [
    ["whose title alone says what it runs", { kind: "execute", title: "ls" }],
    ["with two commands", { kind: "execute", rawInput: { command: "ls", cmd: "rm" } }],
    ["with variables in another form", { kind: "execute", rawInput: { command: "ls", env: { PATH: "." } } }],
    [
      "with a program that a shell may read otherwise",
      { kind: "execute", rawInput: { command: "a b", args: ["c"] } },
    ],
    ["of two files", { kind: "edit", content: [file, { ...file, path: "/work/app/b.txt" }] }],
    ["of one file at another place", { kind: "edit", content: [file], locations: [{ path: "/etc/passwd" }] }],
    ["that deletes", { kind: "delete", locations: [{ path: "/work/app/a.txt" }] }],
    ["of no kind", { title: "mcp__files__read" }],
    ["of a kind that there is not", { kind: "__proto__" }],
    ["that fetches what it does not name", { kind: "fetch", title: "https://a.example" }],
  ];

  it.each(unknown)("%s is other, with all that is known of it", (_, call) => {
    const action = toolCall(call);
    expect(action).toMatchObject({ kind: "other", tool: expect.stringMatching(/^acp:/) });
    expect(action.arguments).toEqual({ call });
  });

  it("of Gemini CLI is the command in its title, in the session's directory only", () => {
    const { action, metadata, toolCallId } = request(
      "session/request_permission",
      geminiCommand,
      "gemini-cli",
    );
    expect(action).toMatchObject({
      tool: "bash",
      arguments: { command: "touch made.txt && ls", cwd: workspace },
    });
    expect(metadata).toMatchObject({ title: "touch made.txt && ls", acp_agent: "gemini-cli", host: "acp" });
    expect(toolCallId).toBe(geminiCommand.toolCall.toolCallId);
    const elsewhere = [{ type: "content", content: { type: "text", text: "[in sub] (make it)" } }];
    const moved = { ...geminiCommand, toolCall: { ...geminiCommand.toolCall, content: elsewhere } };
    expect(request("session/request_permission", moved, "gemini-cli").action?.kind).toBe("other");
    expect(request("session/request_permission", geminiCommand).action?.kind).toBe("other");
  });
});

describe("a request of ACP", () => {
  it("has the fields that the protocol names, and no others", () => {
    const params = { command: "ls", args: ["-l"], Command: "rm", cwd: "/tmp" };
    const { params: passed, action } = request("terminal/create", params);
    expect(passed).toEqual({ sessionId: "s", command: "ls", args: ["-l"], cwd: "/tmp" });
    expect(action).toMatchObject({ tool: "bash", arguments: { command: "ls -l", cwd: "/tmp" } });
    const write = request("fs/write_text_file", { path: "/work/app/a", content: "x", Path: "/etc/passwd" });
    expect(write.params).toEqual({ sessionId: "s", path: "/work/app/a", content: "x" });
    expect(write.action).toMatchObject({ tool: "write", arguments: { path: "/work/app/a", content: "x" } });
  });

  it.each([
    ["terminal/create", { command: ["ls"] }],
    ["terminal/create", { command: "ls", args: "-l" }],
    ["terminal/create", { command: "" }],
    ["fs/write_text_file", { path: "/a" }],
    ["session/request_permission", { toolCall: {}, options: [] }],
    ["session/request_permission", { toolCall: { toolCallId: "c" }, options: [{}] }],
    ["session/prompt", { prompt: "text" }],
    ["session/prompt", { prompt: [null] }],
    ["session/prompt", { prompt: [{ type: "text", text: "a" }, "b"] }],
    ["session/prompt", { prompt: [{ type: "image", data: "\ud800" }] }],
  ])("%s with other fields is refused", (method, params) => {
    expect(() => request(method, params)).toThrow(
      expect.objectContaining({ name: "HookError", code: "hook_invalid" }),
    );
  });

  it("is other where its command has variables or a program that a shell could read otherwise", () => {
    for (const more of [{ env: [{ name: "A;B", value: "" }] }, { command: "a b", args: ["c"] }]) {
      expect(request("terminal/create", { command: "ls", ...more }).action?.kind).toBe("other");
    }
  });

  it("has its prompt with what is attached, and takes a new text in the place of its only one", () => {
    const text = (said: string) => ({ type: "text", text: said });
    const blocks = [
      text("a"),
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "resource", resource: { uri: "file:///a", text: "x".repeat(70_000) } },
    ];
    const { prompt } = request("session/prompt", { prompt: blocks });
    expect(prompt).toEqual({
      prompt: "a",
      attachments: [
        { type: "image", mimeType: "image/png", base64_omitted_bytes: 4, digest: digest(blocks[1]) },
        { type: "resource", uri: "file:///a", text_omitted_bytes: 70_000, digest: digest(blocks[2]) },
      ],
    });
    expect(withPrompt(blocks, "b")?.[0]).toEqual(text("b"));
    expect(withPrompt([text("a"), text("b")], "c")).toBeUndefined();
  });

  it.each([
    ["image", { type: "image", data: "AAAA" }, { type: "image", data: "AAAB" }],
    ["long file", long("x"), long("y")],
    ["field that is not known", { type: "x", y: 1 }, { type: "x", y: 2 }],
    ["text's field", { type: "text", text: "a", _meta: 1 }, { type: "text", text: "a", _meta: 2 }],
  ])("has other attachments for another %s of the same length", (_, one, other) => {
    const attached = (block: object) => request("session/prompt", { prompt: [block] }).prompt?.attachments;
    expect(attached(one)).toEqual([expect.objectContaining({ digest: digest(one) })]);
    expect(attached(one)).toEqual(attached({ ...one }));
    expect(attached(one)).not.toEqual(attached(other));
  });
});

describe("the line of a command", () => {
  it("gives every word back to a shell, whatever is in it", () => {
    const word = fc.string({ unit: fc.constantFrom("a", " ", "'", '"', "\\", "$", ";", "\n", "*", "=") });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (args) => {
        const line = commandLine("printf", args);
        // Words in quotes, which hold nothing but themselves, and plain ones.
        const unquoted = (line ?? "").slice("printf ".length).match(/(?:'[^']*'|\\'|[\w@%+=:,./-])+/g) ?? [];
        const plain = unquoted.map((one) =>
          one.replace(/'([^']*)'|\\'/g, (all, inner) => (all === "\\'" ? "'" : inner)),
        );
        expect(plain).toEqual(args);
      }),
    );
    expect([shellWord(""), shellWord("a'b")]).toEqual(["''", String.raw`'a'\''b'`]);
  });
});

describe("the policy for coding agents, for ACP", () => {
  let harness: ReturnType<typeof createPolicyHarness>;
  beforeAll(async () => {
    harness = createPolicyHarness({ policy: await loadPolicy(defaultPolicyFile, commandJudge()) });
  });

  it.each([
    [
      "terminal/create",
      { command: "git", args: ["push", "--force", "origin", "main"] },
      "destructive-commands",
    ],
    ["terminal/create", { command: "sh", args: ["-c", "sudo rm x"] }, "privileged-commands"],
    ["terminal/create", { command: "./publish.sh" }, "unclear-commands"],
    ["terminal/create", { command: "ls", cwd: "/etc" }, "commands-outside"],
    ["fs/write_text_file", { path: "/work/app/a", content: "" }, "writes"],
    ["fs/write_text_file", { path: "/etc/passwd", content: "" }, "files-outside"],
    ["fs/write_text_file", { path: "/work/app/.env", content: "" }, "secret-files"],
    ["session/request_permission", geminiCommand, "commands"],
    [
      "session/request_permission",
      { toolCall: { toolCallId: "c", kind: "read", locations: [{ path: "/etc/passwd" }] }, options: [] },
      "files-outside",
    ],
    [
      "session/request_permission",
      { toolCall: { toolCallId: "c", kind: "fetch", rawInput: { url: "https://a.example" } }, options: [] },
      "network",
    ],
    [
      "session/request_permission",
      { toolCall: { toolCallId: "c", kind: "other", name: "mcp__a__b" }, options: [] },
      "mcp-calls",
    ],
  ])("%s %j is decided by the rule %s", (method, params, rule) => {
    expect(harness.decide(acpEvent(request(method, params, "gemini-cli"), 0)).rule).toBe(rule);
  });

  it("asks about what no table knows, and lets a prompt pass", () => {
    const unknown = { toolCall: { toolCallId: "c", kind: "delete" }, options: [] };
    expect(harness.decide(acpEvent(request("session/request_permission", unknown))).decision).toMatchObject({
      decision: "escalate",
    });
    const prompt = { prompt: [{ type: "text", text: "hello" }] };
    expect(harness.decide(acpEvent(request("session/prompt", prompt))).decision).toMatchObject({
      decision: "allow",
    });
  });
});
