import { leftoverOf } from "@harnesskit/ahp-client";
import { type AhpHandlers, createAhpServer } from "@harnesskit/ahp-server";
import type { AhpEvent, Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { JudgedCall, JudgedPrompt, ObservedTurn, Tool } from "@harnesskit/thread-server";
import { type Channel, type Clock, displayText, type Transport } from "@harnesskit/wire";
import { createManualClock, createMemoryPair } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSupervision, type SupervisionOptions } from "../src/supervision/supervision.ts";

type Decide = (event: AhpEvent) => Decision | Promise<Decision>;

/** A harness in this process, as a transport: each connection is one to a server of its own. */
class LocalHarness implements Transport {
  readonly events: AhpEvent[] = [];
  readonly channels: Channel[] = [];
  isAway = false;
  decide: Decide;

  constructor(decide: Decide) {
    this.decide = decide;
  }

  async connect(): Promise<Channel> {
    if (this.isAway) throw new RangeError("it is away");
    const gate = (event: AhpEvent) => {
      this.events.push(event);
      return this.decide(event);
    };
    const handlers: AhpHandlers = {
      pre_action: gate,
      pre_prompt: gate,
      fallback: (event) => {
        this.events.push(event as AhpEvent);
        return { decision: "allow" };
      },
    };
    const server = createAhpServer({ name: "local", version: "1", handlers });
    const pair = createMemoryPair();
    server.connect(pair.server);
    this.channels.push(pair.client);
    return pair.client;
  }

  of(type: string): AhpEvent[] {
    return this.events.filter(({ event_type }) => event_type === type);
  }
}

const superviseWith = (decide: Decide, options: Partial<SupervisionOptions> = {}) => {
  const harness = new LocalHarness(decide);
  const notes: string[] = [];
  const supervision = createSupervision({
    endpoint: { transport: harness },
    version: "1",
    policyName: "test",
    note: (line) => notes.push(line),
    ...options,
  });
  onTestFinished(() => supervision.close());
  const { gate, observer } = supervision.seams;
  /** Judges a call, starts it, and reports how it ended. */
  const runCall = async (call: JudgedCall, outcome: Parameters<NonNullable<typeof gate.after>>[1]) => {
    await gate.before(call, during());
    observer.callStarted?.(call);
    await gate.after?.(call, outcome);
  };
  return { harness, supervision, notes, runCall, ...supervision.seams };
};

const place = { threadId: "thread-1", turnId: "turn-1", directory: "/work" };
const callOf = (name: string, input: JudgedCall["input"], itemId = "item-1"): JudgedCall => ({
  ...place,
  itemId,
  tool: {
    name,
    effects: "execute",
    description: "",
    inputSchema: {},
    prepare: async () => ({}),
  } as never as Tool,
  input,
  digest: "d",
});
const prompt: JudgedPrompt = {
  ...place,
  itemId: "item-0",
  agent: "code",
  content: [{ type: "text", text: "hello" }],
  text: "hello",
  digest: "d",
};
const turn: ObservedTurn = { ...place, agent: "code", isResumed: false };
const during = () => ({ signal: new AbortController().signal });
const explained = { policy: { name: "shop", rule: "calm", why: "it is calm" } };
const by = { by: "policy shop", rule: "calm", reason: "it is calm" };

describe("a call under a policy", () => {
  it("is asked about with its bare name, its id, its workspace and its call", async () => {
    const { gate, harness } = superviseWith(() => ({ decision: "allow", metadata: explained }));
    const call = callOf("bash", { command: "ls" });
    expect(await gate.before(call, during())).toEqual({ verdict: "allow", judgement: by });
    await gate.after?.(call, { status: "failed", error: "no", code: "tool.failed", output: { exitCode: 1 } });
    await vi.waitFor(() => expect(harness.of("post_action")).toHaveLength(1));
    expect(harness.of("pre_action")).toMatchObject([
      {
        session_id: "thread-1",
        depth: 0,
        payload: { tool_name: "bash", arguments: { command: "ls" } },
        metadata: {
          tool_id: "harnesskit.workspace/bash",
          workspace: "/work",
          call_id: "item-1",
          turn_id: "turn-1",
        },
      },
    ]);
    expect(harness.of("post_action")).toMatchObject([
      {
        payload: { tool_name: "bash", outcome: "error", error: "no", code: "tool.failed" },
        metadata: { call_id: "item-1" },
      },
    ]);
  });

  const modified = (modified_payload: JsonValue) => ({ decision: "modify", modified_payload }) as const;
  const answered = (approval: JsonObject, reason: string): Decision => ({
    ...{ decision: "block", reason, metadata: { approval: { id: "a", ...approval } } },
  });
  const call = { action_type: "tool_call", tool_name: "bash", tool_call_id: "item-1", target: null };
  const blocked = { verdict: "block", code: "policy.blocked" };
  const rejected = { verdict: "block", isRejection: true, code: "tool.rejected" };
  const invalid = { verdict: "block", code: "policy.invalid_change" };
  const [long, pwd] = [{ command: "ls -l" }, { command: "pwd" }];

  it.each<[string, Decision, object]>([
    ["block", { decision: "block", reason: "no", metadata: explained }, { ...blocked, reason: "no" }],
    [
      "block that a human has answered",
      answered({ status: "rejected", by: "ada (page)", note: "not now" }, "refused by ada (page): not now"),
      {
        ...{ ...rejected, reason: "This call was rejected by ada (page): not now" },
        judgement: { reason: "refused by ada (page): not now" },
      },
    ],
    ["block of a question that waits", answered({ status: "pending" }, "it is pending"), blocked],
    [
      "escalate",
      { decision: "escalate", reason: "sure? (rule careful)" },
      { verdict: "ask", reason: "sure? (rule careful)", judgement: { rule: "careful" } },
    ],
    [
      "modify",
      { ...modified({ arguments: long }), metadata: explained },
      { verdict: "modify", input: long, judgement: by },
    ],
    [
      "allow with other arguments",
      { decision: "allow", modified_payload: { arguments: long } },
      { verdict: "modify", input: long },
    ],
    ["modify to the same", modified({ arguments: { command: "ls" } }), { verdict: "allow" }],
    ["modify to another tool", modified({ tool_name: "write", arguments: {} }), invalid],
    ["modify to no arguments", modified("ls"), invalid],
    [
      "modify to what leaves all else as it is",
      modified({ ...call, arguments: pwd }),
      { verdict: "modify", input: pwd },
    ],
  ])("does as the harness says: %s", async (_name, decision, verdict) => {
    const { gate } = superviseWith(() => decision);
    expect(await gate.before(callOf("bash", { command: "ls" }), during())).toMatchObject(verdict);
  });

  it("runs exactly what the harness makes of it, or nothing", async () => {
    const first = { command: "ls" };
    const changes = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record(
        {
          arguments: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), fc.constant(first)),
          tool_name: fc.constantFrom("bash", "write"),
          command: fc.constantFrom("rm", null),
        },
        { requiredKeys: [] },
      ),
    ) as fc.Arbitrary<JsonValue>;
    let modified: JsonValue = null;
    const { gate } = superviseWith(() => ({ decision: "modify", modified_payload: modified }));
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        modified = change;
        const verdict = await gate.before(callOf("bash", first), during());
        if (verdict.verdict === "block") {
          expect(verdict.code).toBe("policy.invalid_change");
          const wanted = (change as JsonObject | null)?.arguments;
          const sent = { action_type: "tool_call", tool_name: "bash", tool_call_id: "item-1" };
          const leftover = leftoverOf(change, { ...sent, arguments: wanted ?? first });
          const path = leftover && (leftover.path || "modified_payload");
          expect(verdict.reason).toContain(displayText(path ?? "arguments", { maxLength: 200 }));
          return;
        }
        const ran = verdict.verdict === "modify" ? verdict.input : first;
        expect(leftoverOf(change, { tool_name: "bash", arguments: ran })).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  it("names the rule of a decision that has no metadata, and the policy of those before", async () => {
    let decision: Decision = { decision: "allow", metadata: explained };
    const { gate } = superviseWith(() => decision);
    await gate.before(callOf("bash", {}), during());
    decision = { decision: "escalate", reason: "why not (limit calm)" };
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({
      judgement: { by: "policy shop", rule: "calm" },
    });
  });
});

describe("a decision that is put off", () => {
  /** Time passes at once for whoever waits so long, and for nobody else. */
  const hurrying = (delayMs: number): { clock: Clock; waits: number[] } => {
    const manual = createManualClock();
    const waits: number[] = [];
    const clock: Clock = {
      ...manual,
      after(ms, callback) {
        if (ms !== delayMs) return manual.after(ms, callback);
        waits.push(ms);
        queueMicrotask(() => callback());
        return () => {};
      },
    };
    return { clock, waits };
  };

  it("is asked again after the time that it says", async () => {
    const { clock, waits } = hurrying(7_000);
    let asked = 0;
    const { gate } = superviseWith(
      () => (++asked < 3 ? { decision: "defer", retry_after_ms: 7_000 } : { decision: "allow" }),
      { clock },
    );
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({ verdict: "allow" });
    expect(waits).toHaveLength(2);
  });

  it.each([
    ["for the fourth time", 1000, 4],
    ["for more than a minute at once", 60_001, 1],
    ["for more than a minute in all", 30_001, 2],
  ])("is a block %s", async (_how, retryAfterMs, asked) => {
    const { clock } = hurrying(retryAfterMs);
    const { gate, harness } = superviseWith(
      () => ({ decision: "defer", retry_after_ms: retryAfterMs, reason: "busy (limit calm)" }),
      { clock },
    );
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({
      verdict: "block",
      code: "policy.deferred",
      reason: expect.stringContaining("busy (limit calm)"),
    });
    expect(harness.of("pre_action")).toHaveLength(asked);
  });
});

describe("a harness that does not decide", () => {
  it("is unavailable before it was ever there, and after its end", async () => {
    const away = superviseWith(() => ({ decision: "allow" }), {
      timeoutMs: 200,
      endpoint: { transport: { connect: () => Promise.reject(new RangeError("nobody")) } },
    });
    const unavailable = { verdict: "block", code: "gate.unavailable" };
    expect(await away.gate.before(callOf("bash", {}), during())).toMatchObject(unavailable);
    expect(away.notes).toEqual([expect.stringContaining("cannot be reached")]);
    await away.supervision.close();
    expect(await away.gate.before(callOf("bash", {}), during())).toMatchObject(unavailable);
  });

  it("refuses while it is away, and decides again when it is back", async () => {
    const { gate, harness, notes } = superviseWith(() => ({ decision: "allow" }), { timeoutMs: 300 });
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({ verdict: "allow" });
    harness.isAway = true;
    await harness.channels.at(-1)?.close();
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({
      verdict: "block",
      code: "gate.unavailable",
      reason: expect.stringContaining("No policy can judge this call"),
    });
    harness.isAway = false;
    await vi.waitFor(async () =>
      expect(await gate.before(callOf("bash", {}), during())).toMatchObject({ verdict: "allow" }),
    );
    expect(notes).toEqual([expect.stringContaining("is away"), expect.stringContaining("answers again")]);
  });

  it("is timed out when it says nothing", async () => {
    const { gate } = superviseWith(() => new Promise(() => {}), { timeoutMs: 50 });
    expect(await gate.before(callOf("bash", {}), during())).toMatchObject({
      verdict: "block",
      code: "gate.timeout",
    });
  });
});

describe("a prompt under a policy", () => {
  const modified = (modified_payload: JsonValue) => ({ decision: "modify", modified_payload }) as const;
  const invalid = (what: string) => ({
    ...{ verdict: "block", code: "policy.invalid_change" },
    reason: expect.stringContaining(what),
  });

  it.each<[string, Decision, object]>([
    ["allow", { decision: "allow", metadata: explained }, { verdict: "allow", judgement: by }],
    [
      "block",
      { decision: "block", reason: "no" },
      { verdict: "block", code: "policy.blocked", reason: "no" },
    ],
    ["escalate", { decision: "escalate", reason: "sure?" }, { verdict: "ask", reason: "sure?" }],
    ["modify", modified({ prompt: "hi" }), { verdict: "modify", text: "hi" }],
    ["modify to the same", modified({ prompt: "hello" }), { verdict: "allow" }],
    ["modify to no text", modified({ prompt: 1 }), invalid("")],
    [
      "modify to what leaves all else",
      modified({ prompt: "hi", model: null }),
      { verdict: "modify", text: "hi" },
    ],
    ["modify of its model", modified({ prompt: "hi", model: "other" }), invalid("model cannot")],
    ["modify of the prompt and more", modified({ prompt: "hello", files: ["a"] }), invalid("files cannot")],
  ])("does as the harness says: %s", async (_name, decision, verdict) => {
    const { promptGate, harness } = superviseWith(() => decision);
    expect(await promptGate.before(prompt, during())).toMatchObject(verdict);
    expect(harness.of("pre_prompt")).toMatchObject([
      {
        session_id: "thread-1",
        payload: { prompt: "hello" },
        metadata: { workspace: "/work", agent: "code" },
      },
    ]);
  });
});

describe("reports", () => {
  const statuses = (harness: LocalHarness, type: string): unknown[] =>
    harness.of(type).map(({ payload }) => (payload as { status: unknown }).status);

  it("tell a thread as a session and a turn as a run, with its verification, in legal steps", async () => {
    const { observer, supervision, harness, runCall } = superviseWith(() => ({ decision: "allow" }));
    const call = callOf("bash", { command: "npm test" });
    observer.turnStarted?.(turn);
    observer.agentStarted?.(turn);
    await runCall(call, { status: "succeeded", output: { exitCode: 0 } });
    observer.responded?.(turn, { text: "done", step: 1 });
    observer.turnEnded?.(turn, { status: "completed" });
    await supervision.close();
    expect(statuses(harness, "run_lifecycle")).toEqual([
      "created",
      "executing",
      "verifying",
      "executing",
      "completed",
    ]);
    expect(statuses(harness, "verification").at(-1)).toBe("passed");
    expect(harness.of("verification").at(-1)).toMatchObject({
      payload: {
        run_id: "turn-1",
        session_id: "thread-1",
        checks: [{ command: "npm test", status: "passed" }],
      },
    });
    expect(harness.of("post_response")).toMatchObject([{ payload: { text: "done", step: 1 } }]);
    expect(harness.events[0]?.event_type).toBe("session_start");
    expect(harness.events.at(-1)?.event_type).toBe("session_end");
  });

  it.each([
    ["failed", { status: "failed", error: "exit 1" }, "failed"],
    ["unknown", { status: "unknown" }, "needs_review"],
    ["cancelled", { status: "cancelled" }, "skipped"],
  ] as const)("tell a verification whose command ended as %s", async (_how, outcome, expected) => {
    const { observer, supervision, harness, runCall } = superviseWith(() => ({ decision: "allow" }));
    const call = callOf("bash", { command: "cargo test" });
    observer.turnStarted?.(turn);
    await runCall(call, outcome);
    observer.turnEnded?.(turn, { status: "error", error: "it failed", code: "agent_failed" });
    await supervision.close();
    expect(statuses(harness, "verification").at(-1)).toBe(expected);
    expect(statuses(harness, "run_lifecycle").at(-1)).toBe("failed");
  });

  it("tell the tool calls of a turn as the tasks of its run", async () => {
    const clock = createManualClock();
    const { gate, observer, supervision, harness, runCall } = superviseWith(
      ({ payload }) =>
        (payload as { arguments?: JsonObject }).arguments?.path === ".env"
          ? { decision: "block", reason: "secret" }
          : { decision: "allow" },
      { clock },
    );
    observer.turnStarted?.(turn);
    observer.agentStarted?.(turn);
    expect(harness.of("task_list")).toEqual([]);
    const calls = [
      callOf("bash", { command: "curl -H swordfish" }, "i1"),
      callOf("read", { path: ".env" }, "i2"),
      callOf("edit", { path: "src/a.ts" }, "i3"),
      callOf("write", { path: "b" }, "i4"),
    ];
    const [runs, blocked, fails, waits] = calls as [JudgedCall, JudgedCall, JudgedCall, JudgedCall];
    await gate.before(runs, during());
    clock.advance(250);
    observer.callStarted?.(runs);
    clock.advance(249);
    await gate.before(blocked, during());
    clock.advance(1);
    await gate.after?.(blocked, { status: "blocked", error: "secret", code: "policy.blocked" });
    await gate.after?.(runs, { status: "succeeded", output: {} });
    clock.advance(1000);
    // What lasts less than 250 ms is not reported by itself.
    await gate.before(fails, during());
    await runCall(fails, { status: "failed", error: "not unique" });
    clock.advance(250);
    await gate.before(waits, during());
    observer.turnEnded?.(turn, { status: "cancelled" });
    await supervision.close();
    const lists = harness.of("task_list").map(({ payload }) => payload as { tasks: { status: string }[] });
    const seen = lists.map(({ tasks }) => tasks.map(({ status }) => status).join());
    expect(seen).toEqual([
      "pending",
      "in_progress,pending",
      "completed,skipped",
      "completed,skipped,failed",
      "completed,skipped,failed,cancelled",
    ]);
    expect(lists.at(-1)).toMatchObject({
      run_id: "turn-1",
      session_id: "thread-1",
      tasks: [
        { id: "i1", title: "bash", metadata: { tool: "bash" } },
        { id: "i2", title: "read .env", error: "secret" },
        { id: "i3", title: "edit src/a.ts", error: "not unique" },
        { id: "i4", title: "write b" },
      ],
    });
    expect(JSON.stringify(lists)).not.toContain("swordfish");
    expect(statuses(harness, "run_lifecycle").at(-1)).toBe("cancelled");
  });

  it("keep the list of a long turn bounded, and say how many calls it leaves out", async () => {
    const { observer, supervision, harness, runCall } = superviseWith(() => ({ decision: "allow" }));
    observer.turnStarted?.(turn);
    for (let index = 0; index < 130; index++) {
      const call = callOf("read", { path: `f${index}` }, `i${index}`);
      await runCall(call, { status: "succeeded", output: "" });
    }
    await supervision.close();
    const last = harness.of("task_list").at(-1)?.payload as { tasks: { id: string }[]; metadata: object };
    expect([last.tasks.length, last.tasks[0]?.id, last.tasks.at(-1)?.id]).toEqual([100, "i30", "i129"]);
    expect(last.metadata).toEqual({ omitted_tasks: 30 });
  });
});
