import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  answerHook,
  deadlineMs,
  findHost,
  HookError,
  hosts,
  readHook,
  skipHostPromptField,
} from "../src/index.ts";
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

describe("an explicit allow", () => {
  const approved = { decision: "allow", metadata: { [skipHostPromptField]: true } };

  it("lets the call run without the host's own question, where the host takes that from a hook", () => {
    const claude = answerHook(exampleCall("claude-code", "bash"), approved);
    expect(claude.effect).toBe("allow");
    expect(outputOf(claude).hookSpecificOutput).toMatchObject({
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
    });
    const copilot = answerHook(exampleCall("copilot-cli", "bash"), approved);
    expect(copilot.effect).toBe("allow");
    expect(outputOf(copilot)).toMatchObject({ permissionDecision: "allow" });
    // Codex fails a hook for a bare allow, and asks its user by an event of its own.
    expect(answerHook(exampleCall("codex", "bash"), approved)).toMatchObject({ effect: "none", stdout: "" });
    for (const host of ["codex", "claude-code"]) {
      const answer = answerHook(exampleCall(host, "permission-request"), approved);
      expect(answer.effect).toBe("allow");
      expect(outputOf(answer).hookSpecificOutput).toEqual({
        hookEventName: "PermissionRequest",
        decision: { behavior: "allow" },
      });
    }
  });

  it("is not what a policy's allow gives: the host's own rules and prompts hold", () => {
    for (const { id } of hosts) {
      const example = id === "cursor" ? "shell" : "bash";
      expect(answerHook(exampleCall(id, example), { decision: "allow" }).effect).toBe("none");
    }
    for (const host of ["codex", "claude-code"]) {
      const call = exampleCall(host, "permission-request");
      expect(answerHook(call, { decision: "allow" })).toMatchObject({ effect: "none", stdout: "" });
      expect(
        outputOf(answerHook(call, { decision: "block", reason: "R" })).hookSpecificOutput.decision,
      ).toEqual({
        behavior: "deny",
        message: "R",
      });
    }
  });

  it("is for the call that the host has shown before: why Codex asks is not a part of its input", () => {
    expect(exampleCall("codex", "permission-request").toolInput).toEqual({ command: "touch /nope/x" });
  });
});

describe("outcomes", () => {
  const payloadOf = (host: string, name: string) => exampleCall(host, name).event?.payload;

  it.each([
    ["claude-code", "post-failure", { failed: true, error: "Exit code 3" }],
    ["copilot-cli", "post-failure", { failed: true, error: "Path does not exist" }],
    ["copilot-cli", "post-exit-code", { exit_code: 3 }],
    ["gemini-cli", "post-failure", { failed: true, error: "File not found: /work/app/nope.txt" }],
    ["gemini-cli", "post-exit-code", { exit_code: 3 }],
    ["opencode", "post-failure", { failed: true, error: "File not found: /work/app/nope" }],
  ])("of %s say that the call has failed, and how: %s", (host, name, payload) => {
    expect(payloadOf(host, name)).toMatchObject(payload);
  });

  it("of a call that went well say nothing of the kind", () => {
    for (const { id } of hosts) {
      const payload = payloadOf(id, "post");
      for (const field of ["failed", "error", "exit_code", "outcome"])
        expect(payload).not.toHaveProperty(field);
    }
  });

  it("take an exit code from the host's own words behind the output, not from the output", () => {
    const gemini = (llmContent: string) =>
      readHook(
        findHost("gemini-cli"),
        JSON.stringify({
          session_id: "s",
          hook_event_name: "AfterTool",
          tool_name: "run_shell_command",
          tool_input: { command: "x" },
          tool_response: { llmContent },
        }),
      ).event?.payload;
    expect(gemini("Output: a\nExit Code: 3\nb\nProcess Group PGID: 7")).not.toHaveProperty("exit_code");
    expect(gemini("Output: a\nExit Code: 4\nSignal: 9\nProcess Group PGID: 7")).toMatchObject({
      exit_code: 4,
    });
  });
});

describe("a hook that another host runs", () => {
  const input = {
    hook_event_name: "PreToolUse",
    session_id: "352a",
    timestamp: "2026-11-28T20:06:10.476Z",
    cwd: "/work/app",
    tool_name: "Bash",
    tool_input: { command: "touch m1", description: "a step" },
  };

  it("is read and answered as that host's: Copilot CLI runs the hooks of Claude Code's project settings", () => {
    const call = readHook(findHost("claude-code"), JSON.stringify(input));
    expect([call.host.id, call.settingsHost.id, call.event?.agent_id]).toEqual([
      "copilot-cli",
      "claude-code",
      "copilot-cli",
    ]);
    expect(outputOf(answerHook(call, { decision: "block", reason: "R" }))).toEqual({
      permissionDecision: "deny",
      permissionDecisionReason: "R",
    });
    const asked = { hookName: "permissionRequest", sessionId: "352a", toolName: "bash", toolInput: {} };
    expect(answerHook(readHook(findHost("claude-code"), JSON.stringify(asked)))).toMatchObject({
      effect: "none",
    });
  });
});

describe("a subagent", () => {
  it("is told apart by its id, one deeper than the agent that it belongs to", () => {
    const input = {
      session_id: "s",
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "ls" },
    };
    const call = readHook(
      findHost("codex"),
      JSON.stringify({ ...input, turn_id: "t2", agent_id: "a1b2", agent_type: "explorer" }),
    );
    expect(call.event).toMatchObject({
      depth: 1,
      metadata: { subagent: "explorer a1b2", parent_agent_id: "codex", turn_id: "t2" },
    });
    const main = readHook(findHost("codex"), JSON.stringify(input)).event;
    expect(main).toMatchObject({ depth: 0 });
    expect(main?.metadata).not.toHaveProperty("subagent");
  });

  it("of Copilot CLI is told apart, too", () => {
    const input = { sessionId: "s", cwd: "/work/app", toolName: "bash", toolArgs: { command: "ls" } };
    const about = { agentId: "general-purpose-1", agentType: "general-purpose", parentAgentId: "main" };
    const read = (value: object) => readHook(findHost("copilot-cli"), JSON.stringify(value)).event;
    expect(read({ ...input, ...about })).toMatchObject({
      depth: 1,
      metadata: { subagent: "general-purpose general-purpose-1", parent_agent_id: "copilot-cli" },
    });
    expect(read(input)).toMatchObject({ depth: 0 });
  });
});

describe("a tool that no table has", () => {
  it("is marked, so that a newer host shows; one of an MCP server and a known one with odd arguments are not", () => {
    const unknown = (host: string, tool: string, more: object = { tool_input: {} }) =>
      readHook(
        findHost(host),
        JSON.stringify({ session_id: "s", hook_event_name: "PreToolUse", tool_name: tool, ...more }),
      ).event?.metadata?.unknown_tool;
    expect(unknown("codex", "js_repl")).toBe(true);
    expect(unknown("claude-code", "Workflow", { transcript_path: "/t" })).toBe(true);
    expect(unknown("codex", "Bash")).toBeUndefined();
    expect(unknown("codex", "mcp__files__read")).toBeUndefined();
    expect(unknown("codex", "update_plan")).toBeUndefined();
    expect(unknown("copilot-cli", "github-search")).toBeUndefined();
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
