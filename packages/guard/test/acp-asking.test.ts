import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it, vi } from "vitest";
import { guardAgent } from "./support/acp.ts";
import { testHub } from "./support/hub.ts";

const allow = () => ({ decision: "allow" });
const wait = () => ({ decision: "defer", retry_after_ms: 10, reason: "wait" });

const modes = (currentModeId: string, ...others: string[]) => ({
  currentModeId,
  availableModes: [currentModeId, ...others].map((id) => ({ id, name: id })),
});
const select = (id: string, category: string, currentValue: string) => ({
  ...{ id, name: id, category, type: "select", currentValue },
  options: [{ value: currentValue, name: currentValue }],
});
/** As claude-agent-acp 0.101.0. */
const claude = {
  name: "@agentclientprotocol/claude-agent-acp",
  opens: {
    modes: modes("auto", "default", "plan", "bypassPermissions"),
    configOptions: [select("mode", "mode", "auto"), select("model", "model", "default")],
  },
};
/** As Copilot CLI 1.0.102, with a mode in which it asks and an option that ends that. */
const agentMode = "https://agentclientprotocol.com/protocol/session-modes#agent";
const copilot = {
  name: "Copilot",
  opens: {
    modes: modes(agentMode),
    configOptions: [select("mode", "mode", agentMode), select("allow_all", "permissions", "on")],
  },
};
/** As opencode 1.18.33: it runs all that its settings do not forbid. */
const opencode = { name: "OpenCode", opens: { configOptions: [select("mode", "mode", "build")] } };

const update = (toolCallId: string, more: object) => ({
  update: { sessionUpdate: "tool_call_update", toolCallId, ...more },
});
const ran = (toolCallId: string, command: string) =>
  update(toolCallId, { kind: "execute", status: "completed", rawInput: { command } });

describe("a session of an agent that does not ask", () => {
  it("is set to the mode in which it asks before the editor has it, and the editor sees that mode", async () => {
    const { opened, run, notes, events, ahp } = await guardAgent(allow, { agent: claude });
    expect(opened.modes.currentModeId).toBe("default");
    expect(opened.configOptions[0].currentValue).toBe("default");
    expect(opened.configOptions[1].currentValue).toBe("default");
    expect(await run({ changes: {} })).toEqual([
      [{ method: "session/set_mode", sessionId: "session-1", modeId: "default" }],
    ]);
    await ahp.flush();
    expect(events[0]).toMatchObject({
      type: "session_start",
      metadata: { acp_set: { mode: { value: "default", before: "auto" } } },
    });
    expect(notes).toEqual([expect.stringContaining('started with mode "auto"; set to "default"')]);
  });

  it("has the option set by which it asks, where that is one", async () => {
    const { run, opened } = await guardAgent(allow, { agent: copilot });
    expect(await run({ changes: {} })).toEqual([
      [
        {
          method: "session/set_config_option",
          ...{ sessionId: "session-1", configId: "allow_all", value: "off" },
        },
      ],
    ]);
    expect(opened.configOptions[1].currentValue).toBe("off");
  });

  it("is as it was where the agent does not let it be set, and the user is told", async () => {
    const { opened, notes } = await guardAgent(allow, { agent: { ...claude, refusesChanges: true } });
    expect(opened.modes.currentModeId).toBe("auto");
    expect(notes).toEqual([expect.stringMatching(/could not be set to ask: .*"not judged"/)]);
  });

  it("is only told of, or refused, where the user wants that", async () => {
    const warned = await guardAgent(allow, { agent: claude, asking: "warn" });
    expect(warned.opened.modes.currentModeId).toBe("auto");
    expect(warned.notes).toEqual([expect.stringContaining('does not ask before it acts with mode "auto"')]);
    const refused = await guardAgent(allow, { agent: claude, asking: "refuse" });
    expect(refused.opened.error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('mode "auto"; it would with "default"'),
    });
    const prompt = refused.editor.request(methods.agent.session.prompt, {
      sessionId: "session-1",
      prompt: [],
    });
    await expect(prompt).rejects.toMatchObject({ code: -32000 });
    const asks = { ...claude, opens: { modes: modes("default") } };
    expect((await guardAgent(allow, { agent: asks, asking: "refuse" })).session).toBe("session-1");
    expect((await guardAgent(allow, { asking: "refuse" })).opened.error.message).toContain("not known");
  });

  it("is also set when it is loaded", async () => {
    const { editor, run } = await guardAgent(allow, { agent: claude });
    const params = { sessionId: "session-1", cwd: "/work/app", mcpServers: [] };
    expect(await editor.request(methods.agent.session.load, params)).toMatchObject({
      modes: { currentModeId: "default" },
    });
    expect((await run({ changes: {} }))[0]).toHaveLength(2);
  });
});

describe("a mode or an option that the editor sets", () => {
  const session = { sessionId: "session-1" };

  it("is judged, passed on where it is allowed, and recorded", async () => {
    const decide = ({ payload }: { payload: any }) =>
      payload.arguments.mode === "bypassPermissions"
        ? { decision: "block", reason: "not that" }
        : { decision: "allow" };
    const { editor, events, outcome, run } = await guardAgent(decide, { agent: claude });
    const loose = editor.request(methods.agent.session.setMode, { ...session, modeId: "bypassPermissions" });
    await expect(loose).rejects.toMatchObject({
      code: -32000,
      message: "harness guard: not allowed: not that",
    });
    await editor.request(methods.agent.session.setMode, { ...session, modeId: "plan" });
    await editor.request(methods.agent.session.setConfigOption, {
      ...session,
      configId: "model",
      value: "opus",
    });
    expect(await outcome()).toMatchObject({ tool_name: "acp:set_config_option", outcome: "success" });
    expect(
      events
        .filter(({ type }) => type === "pre_action")
        .map(({ payload, metadata }) => [payload.tool_name, payload.arguments, metadata.loosens]),
    ).toEqual([
      ["acp:set_mode", { mode: "bypassPermissions" }, true],
      ["acp:set_mode", { mode: "plan" }, false],
      ["acp:set_config_option", { option: "model", value: "opus" }, false],
    ]);
    const [changes] = await run({ changes: {} });
    expect(changes.slice(1)).toMatchObject([{ modeId: "plan" }, { configId: "model", value: "opus" }]);
  });

  it("that waits is withdrawn when the editor cancels its request, and the agent never has it", async () => {
    const guarded = await guardAgent(wait, { agent: claude });
    const { sendRaw, received, events, outcome } = guarded;
    const params = { ...session, modeId: "plan" };
    await sendRaw(`${JSON.stringify({ jsonrpc: "2.0", id: "m", method: "session/set_mode", params })}\n`);
    await vi.waitFor(() => expect(events.some(({ type }) => type === "pre_action")).toBe(true));
    await sendRaw('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"m"}}\n');
    await vi.waitFor(() => expect(received()).toContain('"code":-32800'));
    expect(await outcome()).toMatchObject({ tool_name: "acp:set_mode", outcome: "cancelled" });
  });

  it("that waits is withdrawn when the editor sets the same again: the last choice holds", async () => {
    const decide = ({ payload }: { payload: unknown }) =>
      JSON.stringify(payload).includes("bypassPermissions") ? wait() : { decision: "allow" };
    const { editor, run, events } = await guardAgent(decide, { agent: claude });
    const setMode = (modeId: string) => editor.request(methods.agent.session.setMode, { ...session, modeId });
    const loose = setMode("bypassPermissions");
    await vi.waitFor(() => expect(events.some(({ type }) => type === "pre_action")).toBe(true));
    const [cut] = await Promise.allSettled([loose, setMode("plan")]);
    expect(cut).toMatchObject({ status: "rejected", reason: { code: -32800 } });
    const [changes] = await run({ changes: {} });
    expect(changes.slice(1)).toMatchObject([{ modeId: "plan" }]);
  });

  it("is reported as not asked about where the agent changes it by itself", async () => {
    const { run, outcome, notes } = await guardAgent(allow, { agent: claude });
    const changed = (currentModeId: string) => ({
      update: { sessionUpdate: "current_mode_update", currentModeId },
    });
    await run(changed("default"), changed("plan"), changed("acceptEdits"));
    expect(await outcome()).toMatchObject({ tool_name: "acp:set_mode", arguments: { mode: "acceptEdits" } });
    expect(notes.at(-1)).toContain('not judged: the agent has set mode to "acceptEdits"');
  });
});

describe("what an agent does without asking", () => {
  const policy = "version: 1\nname: all\ndefaults: { gate: allow }\nrules: []\n";

  it("is shown by the hub as not judged, and said at the terminal once for each kind", async () => {
    const { ahp, timeline } = await testHub(policy);
    const { run, notes } = await guardAgent(undefined, { ahp, agent: opencode });
    const started = update("c1", { status: "in_progress", kind: "execute", rawInput: { command: "ls" } });
    await run(started, ran("c1", "npm publish"), ran("c2", "rm x"));
    const rows = () => timeline.page().then((page) => page.rows.filter(({ type }) => type === "post_action"));
    await vi.waitFor(async () =>
      expect(await rows()).toMatchObject([
        { tool: "bash", state: "done", decision: { decision: "unjudged", source: "none" } },
        { tool: "bash", state: "done", summary: "bash npm publish", decision: { decision: "unjudged" } },
      ]),
    );
    expect(await timeline.sessions()).toMatchObject([{ actions: 2, unjudged: 2 }]);
    const said = notes.filter((note) => note.startsWith("not judged"));
    expect(said).toEqual([expect.stringContaining("OpenCode ran a command without asking: npm publish")]);
  });

  it("is not what it asked about, nor what a judged write or terminal carries out", async () => {
    const { ahp, timeline } = await testHub(policy);
    const { run, notes } = await guardAgent(undefined, { ahp, agent: opencode });
    const options = [{ optionId: "once", name: "Once", kind: "allow_once" }];
    const toolCall = { toolCallId: "c1", kind: "execute", title: "run", rawInput: { command: "npm test" } };
    const path = "/work/app/a.txt";
    const diff = { type: "diff", path, oldText: null, newText: "x" };
    await run(
      { permission: { toolCall, options } },
      ran("c1", "npm test"),
      { write: { path, content: "x" } },
      update("w1", { kind: "edit", status: "completed", content: [diff], locations: [{ path }] }),
      { terminal: { command: "ls" } },
      update("t1", {
        kind: "execute",
        status: "completed",
        content: [{ type: "terminal", terminalId: "t1" }],
      }),
    );
    await vi.waitFor(async () =>
      expect(await timeline.sessions()).toMatchObject([{ actions: 3, waiting: 0 }]),
    );
    expect(await timeline.sessions()).toMatchObject([{ unjudged: 0 }]);
    expect(notes.filter((note) => note.startsWith("not judged"))).toEqual([]);
  });
});

describe("an agent that does something else than it was allowed to do", () => {
  const policy = "version: 1\nname: all\ndefaults: { gate: allow }\nrules: []\n";
  const options = [{ optionId: "once", name: "Once", kind: "allow_once" }];
  const asks = (toolCall: object) => ({
    permission: { toolCall: { toolCallId: "c1", ...toolCall }, options },
  });
  const path = "/work/app/a.txt";
  const change = (file: string) => ({ type: "diff", path: file, oldText: "a", newText: "b" });
  const command = { kind: "execute", title: "test", rawInput: { command: "npm test" } };
  const edit = { kind: "edit", title: "change", content: [change(path)] };

  const rowsOf = async (count: number, agent: object, ...steps: object[]) => {
    const { ahp, timeline } = await testHub(policy);
    const { run, notes } = await guardAgent(undefined, { ahp, agent });
    await run(...steps);
    const rows = await vi.waitFor(async () => {
      const { rows: found } = await timeline.page();
      const actions = found.filter(({ type }) => type.endsWith("_action")).reverse();
      expect(actions.filter(({ state }) => state !== "running")).toHaveLength(count);
      return actions;
    });
    return { rows, said: notes.filter((note) => note.startsWith("not judged")) };
  };

  it.each([
    ["another command", command, { rawInput: { command: "rm -rf /" } }, "bash", "rm -rf /"],
    ["a command in the place of a change", edit, { ...command, title: "x" }, "bash", "npm test"],
    [
      "another file in its arguments",
      edit,
      { rawInput: { file_path: "/etc/passwd" } },
      "edit",
      "/etc/passwd",
    ],
  ])(
    "has a row that is not judged, and the allowed one claims nothing: %s",
    async (_name, asked, reported, tool, named) => {
      const { rows, said } = await rowsOf(
        2,
        opencode,
        asks(asked),
        update("c1", { status: "in_progress", ...reported }),
        update("c1", { status: "completed" }),
      );
      expect(rows).toMatchObject([
        { type: "pre_action", state: "unknown", outcome: expect.stringContaining(named) },
        { type: "post_action", tool, state: "done", decision: { decision: "unjudged", source: "none" } },
      ]);
      expect(rows[1]?.summary).toContain(named);
      expect(said).toEqual([expect.stringContaining(`something else than it was allowed to do: ${named}`)]);
    },
  );

  it("is known by its title where the agent names its commands there", async () => {
    const text = "[current working directory /work/app] (test)";
    const content = [{ type: "content", content: { type: "text", text } }];
    const { rows } = await rowsOf(
      2,
      { name: "gemini-cli" },
      asks({ kind: "execute", title: "npm test", content }),
      update("c1", { status: "completed", title: "npm publish", content: [] }),
    );
    expect(rows).toMatchObject([
      { type: "pre_action", state: "unknown" },
      { type: "post_action", decision: { decision: "unjudged" } },
    ]);
  });

  it.each([
    [
      "the same command in a shell",
      command,
      { rawInput: { command: ["/bin/bash", "-lc", "npm  test"], cwd: "/x" } },
    ],
    [
      "what it prints",
      command,
      { rawInput: {}, content: [change("/work/app/log.txt")], locations: [{ path: "/x" }] },
    ],
  ])("is not one that reports %s", async (_name, asked, reported) => {
    const { rows, said } = await rowsOf(
      1,
      opencode,
      asks(asked),
      update("c1", { status: "in_progress", ...reported }),
      update("c1", { status: "completed" }),
    );
    expect(rows).toMatchObject([{ type: "pre_action", state: "done" }]);
    expect(said).toEqual([]);
  });
});

describe("a command that failed", () => {
  it.each([
    ["opencode", { rawOutput: { output: "", metadata: { exit: 3 } } }],
    ["Copilot CLI", { rawOutput: { contents: [{ type: "shell_exit", exitCode: 3 }] } }],
    ["codex-acp", { _meta: { terminal_exit: { exit_code: 3 } } }],
  ])("is recorded as failed where the agent calls it completed: %s", async (_name, more) => {
    const { run, outcome } = await guardAgent(allow, { agent: opencode });
    await run(update("c1", { kind: "execute", status: "completed", rawInput: { command: "x" }, ...more }));
    expect(await outcome()).toMatchObject({ outcome: "error", error: "exit code 3" });
  });
});

describe("a call that was refused", () => {
  it("shows its reason also where the agent's own words come after it", async () => {
    const { run, received } = await guardAgent(() => ({ decision: "block", reason: "not here" }), {
      agent: opencode,
    });
    const options = [
      { optionId: "once", name: "Once", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ];
    const toolCall = { toolCallId: "c1", kind: "execute", rawInput: { command: "npm publish" } };
    const content = [{ type: "content", content: { type: "text", text: "The user rejected it." } }];
    await run({ permission: { toolCall, options } }, update("c1", { status: "failed", content }));
    const last = received()
      .split("\n")
      .findLast((line) => line.includes("The user rejected it."));
    expect(JSON.parse(last ?? "").params.update.content).toMatchObject([
      { content: { text: "The user rejected it." } },
      { content: { text: "harness guard: not here" } },
    ]);
  });

  it("is withdrawn from the inbox when the editor cancels the request of its turn", async () => {
    const guarded = await guardAgent(wait, { agent: opencode });
    const { sendRaw, events, outcome } = guarded;
    const toolCall = { toolCallId: "c1", kind: "execute", rawInput: { command: "npm publish" } };
    const options = [{ optionId: "once", name: "Once", kind: "allow_once" }];
    const steps = JSON.stringify([{ permission: { toolCall, options } }]);
    const params = { sessionId: "session-1", prompt: [{ type: "text", text: steps }] };
    await sendRaw(`${JSON.stringify({ jsonrpc: "2.0", id: "p", method: "session/prompt", params })}\n`);
    await vi.waitFor(() => expect(events.some(({ type }) => type === "pre_action")).toBe(true));
    await sendRaw('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}\n');
    await vi.waitFor(async () => expect(await outcome()).toMatchObject({ outcome: "cancelled" }));
  });
});
