import type { HookAnswer } from "@harnesskit/agent-hooks";
import { type AhpHandlers, createAhpServer } from "@harnesskit/ahp-server";
import { HarnessError } from "@harnesskit/wire";
import { createManualClock, type ManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it, vi } from "vitest";
import type { GuardHarness } from "../src/harness-line.ts";
import { createGuard } from "../src/index.ts";
import { terminalTarget } from "../src/proxy/rulings.ts";
import { codexInput, never, policyHarness, refusalOf } from "./support/hooks.ts";

const guardOf = (handlers: AhpHandlers) => {
  const harness = createAhpServer({ name: "test", version: "1.0.0", handlers });
  return createGuard({ harness, version: "1.0.0" });
};

const ask = (guard: ReturnType<typeof createGuard>, input: string, more: object = {}) =>
  guard.answer({ host: "codex", input, cwd: "/work/app", timeoutMs: 10_000, ...more }, never);

describe("a guard", () => {
  it("answers by the shipped policy: blocks what destroys, and passes reads without a word", async () => {
    const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
    const refused = await ask(guard, codexInput("git push --force origin main"));
    expect(refused.exitCode).toBe(0);
    expect(refusalOf(refused.stdout)).toContain("this would destroy something");
    const read = JSON.stringify({
      session_id: "s1",
      cwd: "/work/app",
      hook_event_name: "BeforeTool",
      tool_name: "read_file",
      tool_input: { file_path: "src/index.ts" },
    });
    const passed = await guard.answer({ host: "gemini-cli", input: read, cwd: "/work/app" }, never);
    expect(passed).toMatchObject({ exitCode: 0, stdout: "{}", stderr: "", effect: "none" });
  });

  it("reports the outcome of a changed call as that of the call that was asked about, for hosts without ids of calls", async () => {
    const outcomes = vi.fn();
    const guard = guardOf({
      pre_action: () => ({
        decision: "modify",
        modified_payload: { arguments: { command: "b", description: "d" } },
      }),
      post_action: ({ payload }) => outcomes(payload),
    });
    const gemini = (event: string, command: string) =>
      guard.answer(
        {
          host: "gemini-cli",
          input: JSON.stringify({
            session_id: "s1",
            cwd: "/work/app",
            hook_event_name: event,
            tool_name: "run_shell_command",
            tool_input: { command, description: "d" },
          }),
        },
        never,
      );
    expect(await gemini("BeforeTool", "a")).toMatchObject({ effect: "modify" });
    await gemini("AfterTool", "b");
    await vi.waitFor(() => expect(outcomes).toHaveBeenCalledTimes(1));
    const asked = { command: "a", description: "d", cwd: "/work/app" };
    expect(outcomes.mock.calls[0]?.[0]).toMatchObject({
      arguments: asked,
      modified_arguments: { ...asked, command: "b" },
    });
    await gemini("AfterTool", "b");
    await vi.waitFor(() => expect(outcomes).toHaveBeenCalledTimes(2));
    expect(outcomes.mock.calls[1]?.[0]).not.toHaveProperty("modified_arguments");
  });

  it("passes over an event that it does not know, and reports one that asks nothing", async () => {
    const seen = vi.fn();
    const guard = guardOf({ post_action: ({ payload }) => seen(payload) });
    const unknown = await ask(guard, codexInput("ls", { hook_event_name: "FutureEvent" }));
    expect(unknown).toMatchObject({ exitCode: 0, stdout: "{}", effect: "none" });
    const post = await ask(guard, codexInput("ls", { hook_event_name: "PostToolUse", tool_response: "a\n" }));
    expect(post).toMatchObject({ exitCode: 0, stdout: "{}" });
    await vi.waitFor(() => expect(seen).toHaveBeenCalledWith(expect.objectContaining({ result: "a\n" })));
  });

  it.each([
    ["not JSON", "codex", "{", /not readable JSON/],
    ["no object", "codex", "[]", /must be an object/],
    ["without a session", "codex", '{"hook_event_name":"PreToolUse"}', /session_id/],
    ["an unknown host", "emacs", "{}", /unknown host emacs/],
  ])(
    "refuses input that it cannot read with exit code 2 and a reason: %s",
    async (_, host, input, reason) => {
      const answer = await ask(guardOf({ pre_action: () => ({ decision: "allow" }) }), input, { host });
      expect(answer).toMatchObject({ exitCode: 2, stdout: "" });
      expect(answer.stderr).toMatch(reason);
    },
  );

  it("refuses where the harness fails, answers garbage or does not know the event, and says which", async () => {
    const onError = vi.fn();
    const broken: GuardHarness = { handle: async () => Promise.reject(new HarnessError("gone", "gone")) };
    const failed = await ask(createGuard({ harness: broken, version: "1", onError }), codexInput("ls"));
    expect(refusalOf(failed.stdout)).toBe("the harness failed");
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: "gone" }));
    const garbled: GuardHarness = { handle: async () => ({ result: { decision: "perhaps" } }) };
    const unclear = await ask(createGuard({ harness: garbled, version: "1" }), codexInput("ls"));
    expect(refusalOf(unclear.stdout)).toBe("the harness's decision is not valid");
    const silent: GuardHarness = { handle: async () => undefined };
    const none = await ask(createGuard({ harness: silent, version: "1" }), codexInput("ls"));
    expect(refusalOf(none.stdout)).toContain("no answer");
  });

  it("introduces a session again after the harness has forgotten it", async () => {
    let harness = createAhpServer({
      name: "a",
      version: "1",
      handlers: { pre_action: () => ({ decision: "allow" }) },
    });
    const guard = createGuard({
      harness: { handle: (message, context) => harness.handle(message, context) },
      version: "1.0.0",
    });
    expect(await ask(guard, codexInput("ls"))).toMatchObject({ effect: "none" });
    harness = createAhpServer({
      name: "b",
      version: "1",
      handlers: { pre_action: () => ({ decision: "allow" }) },
    });
    expect(await ask(guard, codexInput("ls"))).toMatchObject({ effect: "none" });
  });

  it("refuses a hook above its limit as full", async () => {
    const harness = createAhpServer({
      name: "t",
      version: "1",
      handlers: { pre_action: () => new Promise(() => {}) },
    });
    const guard = createGuard({ harness, version: "1", limits: { maxHooks: 1 } });
    const stop = new AbortController();
    const first = guard.answer({ host: "codex", input: codexInput("a"), timeoutMs: 60_000 }, stop.signal);
    const second = await ask(guard, codexInput("b"));
    expect(second).toMatchObject({ exitCode: 2 });
    expect(second.stderr).toContain("the guard is full: it answers 1 hooks already");
    stop.abort();
    expect(refusalOf((await first).stdout)).toBe("the hook was cancelled");
    expect(guard.pending).toBe(0);
    expect(() => createGuard({ harness, version: "1", limits: { maxHooks: 0 } })).toThrow(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("lets the host ask its own user where the policy says so and the host can", async () => {
    const guard = guardOf({
      pre_action: () => ({ decision: "escalate", reason: "it publishes", escalation_target: terminalTarget }),
    });
    const claude = await guard.answer(
      { host: "claude-code", input: codexInput("npm publish"), cwd: "/work/app" },
      never,
    );
    expect(claude).toMatchObject({ effect: "ask" });
    expect(JSON.parse(claude.stdout).hookSpecificOutput.permissionDecision).toBe("ask");
    const codex = await ask(guard, codexInput("npm publish"));
    expect(refusalOf(codex.stdout)).toContain("this needs an approval: it publishes");
  });

  it("keeps the directory of a session's first hook for its workspace: a host may follow its model's cd", async () => {
    const workspaces: unknown[] = [];
    const guard = guardOf({
      pre_action({ metadata }) {
        workspaces.push(metadata?.workspace);
        return { decision: "allow" };
      },
    });
    await ask(guard, codexInput("cd /tmp"));
    await ask(guard, codexInput("ls"), { cwd: "/tmp" });
    await ask(guard, codexInput("ls", { session_id: "another" }), { cwd: "/tmp" });
    expect(workspaces).toEqual(["/work/app", "/work/app", "/tmp"]);
  });

  it("tells the harness how long the host waits, and whether it can ask its user", async () => {
    const metadata = vi.fn();
    const guard = guardOf({
      pre_action(event) {
        metadata(event.metadata);
        return { decision: "allow" };
      },
    });
    await ask(guard, codexInput("ls"));
    expect(metadata).toHaveBeenCalledWith(
      expect.objectContaining({ host: "codex", host_asks: false, workspace: "/work/app" }),
    );
    const [[seen]] = metadata.mock.calls as [[{ wait_ms: number }]];
    const { wait_ms: waitMs } = seen;
    expect(waitMs).toBeGreaterThan(6000);
    expect(waitMs).toBeLessThanOrEqual(7000);
  });
});

describe("an approval", () => {
  const approved = { decision: "allow", metadata: { skip_host_prompt: true } } as const;
  const request = (more: object = {}) =>
    codexInput("npm publish", { hook_event_name: "PermissionRequest", tool_use_id: undefined, ...more });
  const isAllowed = ({ stdout }: HookAnswer) =>
    JSON.parse(stdout).hookSpecificOutput?.decision?.behavior === "allow";

  it("answers Codex's own question about the call that was approved, once", async () => {
    const guard = guardOf({ pre_action: () => approved });
    expect(await ask(guard, codexInput("npm publish"))).toMatchObject({ effect: "none", stdout: "{}" });
    for (const other of [
      { session_id: "s2" },
      { turn_id: "t2" },
      { tool_input: { command: "npm publish --force" } },
      { tool_name: "apply_patch" },
      { agent_id: "a1" },
    ]) {
      expect(isAllowed(await ask(guard, request(other)))).toBe(false);
    }
    const why = { tool_input: { command: "npm publish", description: "it needs the network" } };
    expect(await ask(guard, request(why))).toMatchObject({ effect: "allow" });
    expect(await ask(guard, request())).toMatchObject({ effect: "none", stdout: "{}" });
  });

  it("answers each of two identical calls", async () => {
    const guard = guardOf({ pre_action: () => approved });
    await ask(guard, codexInput("npm publish"));
    await ask(guard, codexInput("npm publish", { tool_use_id: "c2" }));
    expect(isAllowed(await ask(guard, request()))).toBe(true);
    expect(isAllowed(await ask(guard, request()))).toBe(true);
    expect(isAllowed(await ask(guard, request()))).toBe(false);
  });

  it("ends with its call, and with the next decision about the same one", async () => {
    let decision: object = approved;
    const guard = guardOf({ pre_action: () => decision as never, post_action: () => {} });
    await ask(guard, codexInput("npm publish"));
    await ask(guard, codexInput("npm publish", { hook_event_name: "PostToolUse", tool_response: "" }));
    expect(isAllowed(await ask(guard, request()))).toBe(false);
    await ask(guard, codexInput("npm publish", { tool_use_id: "c2" }));
    decision = { decision: "allow" };
    await ask(guard, codexInput("npm publish", { tool_use_id: "c3" }));
    expect(isAllowed(await ask(guard, request()))).toBe(false);
  });

  it("is not what a policy gives: its allow leaves the host's question to the host's user", async () => {
    const asked = vi.fn(() => ({ decision: "allow" }) as const);
    const guard = guardOf({ pre_action: asked });
    await ask(guard, codexInput("npm publish"));
    expect(await ask(guard, request())).toMatchObject({ effect: "none", stdout: "{}" });
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

describe("a call that two hosts' settings have hooks for", () => {
  const native = (more: object) => JSON.stringify({ sessionId: "p1", cwd: "/work/app", ...more });
  const borrowed = JSON.stringify({
    hook_event_name: "PreToolUse",
    session_id: "p1",
    timestamp: "2026-11-28T20:06:10.476Z",
    cwd: "/work/app",
    tool_name: "Bash",
    tool_input: { command: "touch m1", description: "a step" },
  });
  const call = { toolName: "bash", toolArgs: { command: "touch m1", description: "a step" } };

  it("is judged once, by the hooks of the host that runs", async () => {
    const asked = vi.fn(() => ({ decision: "block", reason: "no" }) as const);
    const guard = guardOf({ pre_action: asked, session_start: () => {} });
    await ask(guard, native({ source: "new" }), { host: "copilot-cli" });
    expect(await ask(guard, native(call), { host: "copilot-cli" })).toMatchObject({ effect: "block" });
    expect(await ask(guard, borrowed, { host: "claude-code" })).toMatchObject({
      effect: "none",
      stdout: "{}",
    });
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

it("reports a change that the host cannot make as a refusal of the guard", async () => {
  const outcomes = vi.fn();
  const guard = guardOf({
    pre_action: () => ({ decision: "modify", modified_payload: { arguments: { command: "b", more: 1 } } }),
    post_action: ({ payload }) => outcomes(payload),
  });
  const { effect, reason } = await ask(guard, codexInput("a"));
  expect([effect, reason]).toEqual(["block", expect.stringContaining("cannot be applied")]);
  await vi.waitFor(() => expect(outcomes).toHaveBeenCalledTimes(1));
  expect(outcomes.mock.calls[0]?.[0]).toMatchObject({
    tool_call_id: "c1",
    arguments: { command: "a" },
    outcome: "refused",
    error: expect.stringContaining("cannot be applied"),
  });
});

describe("a decision that is deferred", () => {
  const ticket = "approval T-1 is pending in the hub's inbox; repeat the same call";
  /** Moves the clock until the answer is there. */
  const settled = async (answer: Promise<HookAnswer>, clock: ManualClock) => {
    const startMs = clock.now();
    let found: HookAnswer | undefined;
    void answer.then((value) => {
      found = value;
    });
    while (!found) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { found, tookMs: clock.now() - startMs };
  };

  const setUp = () => {
    const clock = createManualClock();
    const state = {
      decision: { decision: "defer", retry_after_ms: 2000, reason: ticket } as object,
      asked: 0,
    };
    const harness: GuardHarness = {
      async handle(message) {
        const { method, id } = message as { method: string; id: string };
        if (method === "ahp/event") state.asked++;
        return { jsonrpc: "2.0", id, result: method === "ahp/event" ? state.decision : {} };
      },
    };
    return { clock, state, guard: createGuard({ harness, version: "1", clock }) };
  };

  it("is asked again while the host waits, and the human's answer arrives", async () => {
    const { clock, state, guard } = setUp();
    const answer = ask(guard, codexInput("npm publish"), { timeoutMs: 60_000 });
    await vi.waitFor(() => expect(state.asked).toBe(1));
    state.decision = { decision: "allow" };
    const { found } = await settled(answer, clock);
    expect(found).toMatchObject({ effect: "none" });
    expect(state.asked).toBe(2);
  });

  it("becomes a refusal with the ticket before the host stops waiting", async () => {
    const { clock, state, guard } = setUp();
    const { found, tookMs } = await settled(
      ask(guard, codexInput("npm publish"), { timeoutMs: 7500 }),
      clock,
    );
    expect(refusalOf(found.stdout)).toContain(ticket);
    expect(state.asked).toBeGreaterThan(1);
    expect(tookMs).toBeLessThanOrEqual(5500);
  });
});
