import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerHook, deadlineMs, findHost, HookError, readHook } from "../src/index.ts";
import { exampleCall } from "./support/examples.ts";

const modified = (args: object, more: object = {}) => ({
  decision: "modify",
  modified_payload: { ...more, arguments: args },
});
const outputOf = (answer: { readonly stdout: string }) => JSON.parse(answer.stdout);

const claude = (tool: string, input: object, cwd = "/work/app", workspace: string | null = "/work/app") =>
  readHook(
    findHost("claude-code"),
    JSON.stringify({
      session_id: "s",
      cwd,
      hook_event_name: "PreToolUse",
      tool_name: tool,
      tool_input: input,
    }),
    workspace === null ? {} : { workspace },
  );

describe("decisions", () => {
  it("asks the user of the host only where the host obeys that and the caller wants it", () => {
    const escalate = { decision: "escalate", reason: "R" };
    const ask = { escalate: "ask" } as const;
    expect(answerHook(exampleCall("claude-code", "bash"), escalate, ask).effect).toBe("ask");
    expect(answerHook(exampleCall("claude-code", "bash"), escalate).effect).toBe("block");
    expect(answerHook(exampleCall("codex", "bash"), escalate, ask).effect).toBe("block");
    expect(answerHook(exampleCall("cursor", "shell"), escalate, ask).effect).toBe("block");
    expect(outputOf(answerHook(exampleCall("cursor", "before-shell"), escalate, ask)).permission).toBe("ask");
  });

  it("adds the ticket to the refusals of escalate and defer", () => {
    const ticket = "approval T-7 is pending; repeat the same call";
    const call = exampleCall("codex", "bash");
    expect(answerHook(call, { decision: "escalate", reason: "R" }, { ticket }).reason).toBe(
      `this needs an approval: R. ${ticket}`,
    );
    expect(answerHook(call, { decision: "defer", retry_after_ms: 1500 }, { ticket }).reason).toBe(
      `not now, retry after 2 s. ${ticket}`,
    );
  });

  it("says that a refused prompt is not refused by a host that cannot", () => {
    const answer = answerHook(exampleCall("copilot-cli", "prompt"), { decision: "block", reason: "R" });
    expect(answer).toMatchObject({ effect: "not_applied", stdout: "", reason: "R" });
  });

  it("refuses a changed prompt", () => {
    const decision = { decision: "modify", modified_payload: { prompt: "other" } };
    expect(answerHook(exampleCall("claude-code", "prompt"), decision)).toMatchObject({ effect: "block" });
  });

  it("shows what is hidden in a reason and cuts it", () => {
    const { reason } = answerHook(exampleCall("codex", "bash"), {
      decision: "block",
      reason: `\u202eno ${"x".repeat(9000)}`,
    });
    expect(reason).toMatch(/^⟨U\+202E⟩no x+… \[\d+ more characters\]$/);
  });
});

describe("modifications", () => {
  it("give the host its own names back", () => {
    const answer = answerHook(
      exampleCall("claude-code", "write"),
      modified({ path: "/work/app/b.txt", content: "y" }),
    );
    expect(outputOf(answer).hookSpecificOutput.updatedInput).toEqual({
      file_path: "/work/app/b.txt",
      content: "y",
    });
    const gemini = answerHook(exampleCall("gemini-cli", "write"), modified({ path: "b.txt", content: "y" }));
    expect(outputOf(gemini).hookSpecificOutput.tool_input).toEqual({ file_path: "b.txt", content: "y" });
  });

  it.each([
    ["another tool", "claude-code", "bash", modified({ command: "x" }, { tool_name: "write" }), "tool_name"],
    ["another directory than the host's", "codex", "bash", modified({ command: "x", cwd: "/" }), "cwd"],
    ["a removed argument", "gemini-cli", "bash", modified({ command: "x" }), "description"],
    ["a command that is not a string", "claude-code", "bash", modified({ command: 1 }), "command"],
    ["no arguments", "claude-code", "bash", { decision: "modify", modified_payload: "x" }, "arguments"],
    [
      "an argument given twice",
      "claude-code",
      "write",
      modified({ path: "a", file_path: "b", content: "" }),
      "twice",
    ],
    ["an event without changes", "cursor", "before-shell", modified({ command: "x" }), "does not apply"],
    ["more than a command on Codex", "codex", "mcp", modified({ q: "y" }), "new command"],
    [
      "an allow with such a change",
      "codex",
      "mcp",
      { ...modified({ q: "y" }), decision: "allow" },
      "new command",
    ],
  ])("are refused whole: %s", (_name, host, example, decision, reason) => {
    const answer = answerHook(exampleCall(host, example), decision);
    expect(answer.effect).toBe("block");
    expect(answer.reason).toContain(reason);
  });

  it("change nothing where the payload is as it was", () => {
    for (const [host, example] of [
      ["claude-code", "grep"],
      ["gemini-cli", "write"],
      ["codex", "patch"],
      ["cursor", "read"],
    ] as const) {
      const call = exampleCall(host, example);
      const answer = answerHook(call, { decision: "modify", modified_payload: call.event?.payload });
      expect(answer.effect).toBe("modify");
      expect(answer.stdout).toContain(JSON.stringify(call.toolInput));
    }
  });
});

describe("actions", () => {
  it("are other where a policy and the host could read different things", () => {
    const kindOf = (...call: Parameters<typeof claude>) => claude(...call).action?.kind;
    expect(kindOf("Read", { file_path: "/a", path: "/b" })).toBe("other");
    expect(kindOf("Bash", { command: "ls", cwd: "/work/app" }, "/etc")).toBe("other");
    expect(kindOf("Bash", { command: ["ls"] })).toBe("other");
    expect(kindOf("Read", { file_path: "a" }, "/etc", "/work/app")).toBe("other");
    expect(kindOf("Read", { file_path: "/etc/a" }, "/etc", "/work/app")).toBe("read");
    expect(kindOf("Read", { file_path: "a" }, "/etc", null)).toBe("other");
    expect(kindOf("Grep", { pattern: "x" }, "/etc", "/work/app")).toBe("other");
    expect(kindOf("mcp__a__b__c", {})).toBe("other");
    expect(kindOf("mcp__a___b", {})).toBe("other");
    expect(kindOf("bash", { command: "ls" })).toBe("other");
    expect(kindOf("__proto__", {})).toBe("other");
  });

  it("have the directory in which the host runs a command", () => {
    const { action, event } = claude("Bash", { command: "cat shadow" }, "/etc", "/work/app");
    expect(action?.arguments).toEqual({ command: "cat shadow", cwd: "/etc" });
    expect(event?.metadata).toMatchObject({ workspace: "/work/app", host_tool: "Bash" });
    expect(claude("Bash", { command: "ls" }, "/etc", null).event?.metadata).not.toHaveProperty("workspace");
  });

  it("never name an unknown tool as a tool that policies know", () => {
    const host = findHost("claude-code");
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (name) => {
        fc.pre(!Object.hasOwn(host.tools, name) && !name.startsWith("mcp__"));
        expect(claude(name, { command: "ls", file_path: "/a" }).action).toMatchObject({
          kind: "other",
          tool: `claude-code:${name}`,
        });
      }),
    );
  });

  it("take a patch for an edit only if one file is added or changed", () => {
    const kindOf = (...lines: string[]) =>
      readHook(
        findHost("codex"),
        JSON.stringify({
          session_id: "s",
          cwd: "/w",
          hook_event_name: "PreToolUse",
          tool_name: "apply_patch",
          tool_input: { command: lines.join("\n") },
        }),
        { workspace: "/w" },
      ).action?.kind;
    expect(
      kindOf("*** Begin Patch", "*** Update File: a", "@@", "-x", "+*** Delete File: b", "*** End Patch"),
    ).toBe("edit");
    expect(kindOf("*** Begin Patch", "*** Update File: a", "*** Move to: b", "*** End Patch")).toBe("other");
    expect(kindOf("*** Begin Patch", "*** Delete File: a", "*** End Patch")).toBe("other");
    expect(kindOf("*** Add File: a", "  *** Add File: b")).toBe("other");
    expect(kindOf("*** Frobnicate: a")).toBe("other");
  });
});

describe("input", () => {
  const host = findHost("codex");
  const codeOf = (text: string, limits = {}) => {
    try {
      readHook(host, text, { limits });
    } catch (error) {
      expect(error).toBeInstanceOf(HookError);
      return (error as HookError).code;
    }
    throw new Error("did not throw");
  };

  it("is refused with a code of its own for each defect", () => {
    expect(codeOf("")).toBe("hook_not_json");
    expect(codeOf("{")).toBe("hook_not_json");
    expect(codeOf("[]")).toBe("hook_invalid");
    expect(codeOf("{}")).toBe("hook_invalid");
    expect(codeOf(`{"session_id":"s","hook_event_name":"PreToolUse"}`)).toBe("hook_invalid");
    expect(codeOf(`{"session_id":"s","hook_event_name":"UserPromptSubmit"}`)).toBe("hook_invalid");
    expect(codeOf(`${"[".repeat(200)}${"]".repeat(200)}`)).toBe("hook_too_deep");
    const callOf = (levels: number) => ({
      ...{ session_id: "s", hook_event_name: "PreToolUse", cwd: "/", tool_name: "x", tool_use_id: "t" },
      tool_input: JSON.parse(`{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`),
    });
    expect(readHook(host, JSON.stringify(callOf(64))).event).toBeDefined();
    expect(codeOf(JSON.stringify(callOf(80)))).toBe("hook_too_deep");
    expect(codeOf(`"${"ü".repeat(60)}"`, { maxInputBytes: 100 })).toBe("hook_too_large");
    expect(() => findHost("vim")).toThrow(expect.objectContaining({ code: "unknown_host" }));
    expect(() => readHook(host, "{}", { limits: { maxInputBytes: 0 } })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("loses a large result and keeps its size", () => {
    const input = { session_id: "s", hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: {} };
    const call = readHook(host, JSON.stringify({ ...input, tool_response: "x".repeat(70_000) }));
    expect(call.event?.payload).toMatchObject({ result_omitted_bytes: 70_002 });
    expect(call.event?.payload).not.toHaveProperty("result");
  });

  it("may begin with a byte order mark", () => {
    expect(readHook(host, `\ufeff{"session_id":"s","hook_event_name":"SessionStart"}`).event).toBeDefined();
  });
});

it("ends a guard two seconds before its host, and never later than half of a short wait", () => {
  expect(deadlineMs(findHost("codex"))).toBe(598_000);
  expect(deadlineMs(findHost("codex"), 3000)).toBe(1500);
  expect(() => deadlineMs(findHost("codex"), 0)).toThrow(
    expect.objectContaining({ code: "invalid_argument" }),
  );
});
