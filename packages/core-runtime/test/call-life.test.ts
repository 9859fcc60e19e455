import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import type { CallResult, ToolCall } from "../src/index.ts";
import { connected, echoTool, type Message, openCore, type ScriptedAgent } from "./support/scripted-agent.ts";

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      tool: fc.nat(1),
      key: fc.nat(3),
      timeoutMs: fc.integer({ min: 1, max: 60 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("result" as const),
      at: fc.nat(9),
      status: fc.constantFrom("succeeded", "failed", "canceled"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("duplicate" as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forged" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("malformed" as const), at: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("stream" as const),
      at: fc.nat(9),
      seq: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("advance" as const), byMs: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "unregister" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "disconnect" as const }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const tools = [echoTool("demo.agent", "a"), echoTool("demo.agent", "b", { side_effects: false })];

/** Runs one story against a core, and gives back everything that can be counted. */
class Story {
  readonly clock = createManualClock();
  readonly core = openCore({
    clock: this.clock,
    limits: { maxInFlightRequests: 2, maxQueuedCalls: 3 },
    cancelGraceMs: 20,
    heartbeatIntervalMs: 1_000_000,
  });
  readonly calls: ToolCall[] = [];
  readonly outcomes = new Map<ToolCall, CallResult[]>();
  agent!: ScriptedAgent;
  /** What went to agents: the message, the agent and how many results came back. */
  readonly sent: { agent: ScriptedAgent; message: Message; results: number }[] = [];

  async connect(): Promise<void> {
    const { agent } = await connected(this.core, { tools });
    this.agent = agent;
    agent.onMessage = (message) => {
      if (message.type === "core.tool.call") this.sent.push({ agent, message, results: 0 });
    };
  }

  async run(one: Step): Promise<void> {
    switch (one.kind) {
      case "call": {
        const toolId = `demo.agent/${one.tool === 0 ? "a" : "b"}`;
        const call = this.core.call(
          toolId,
          { text: "x" },
          { timeoutMs: one.timeoutMs, ...(one.key > 1 && { idempotencyKey: `k${one.key}` }) },
        );
        this.calls.push(call);
        this.outcomes.set(call, []);
        void call.result.then((result) => this.outcomes.get(call)?.push(result));
        return;
      }
      case "result":
      case "duplicate":
      case "malformed": {
        const open = this.sent.filter(
          ({ agent, results }) => agent === this.agent && (one.kind === "duplicate") === results > 0,
        );
        const target = open[one.at % Math.max(1, open.length)];
        if (!target) return;
        target.results++;
        const status =
          one.kind === "result" ? one.status : one.kind === "duplicate" ? "succeeded" : "finished";
        this.agent.result(target.message, { status, output: { n: target.results } });
        return;
      }
      case "forged":
        this.agent.send("agent.tool.result", { call_id: "forged", status: "succeeded" });
        return;
      case "stream": {
        const target = this.sent[one.at % Math.max(1, this.sent.length)];
        if (target?.agent === this.agent) this.agent.stream(target.message, one.seq, "x");
        return;
      }
      case "cancel":
        this.calls[one.at % Math.max(1, this.calls.length)]?.cancel();
        return;
      case "advance":
        this.clock.advance(one.byMs);
        return;
      case "unregister":
        await this.agent.register([tools[0]], true);
        await this.agent.register(tools, true);
        return;
      default:
        this.agent.wire?.kill();
        await nextTurn(2);
        await this.connect();
    }
  }
}

it("the life of calls ends exactly once for each of them, whatever the agent, the callers and the clock do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const story = new Story();
      await story.connect();
      for (const each of steps) {
        await story.run(each);
        await nextTurn(2);
        const info = story.core.agents()[0];
        expect(info?.inflight).toBeLessThanOrEqual(2);
        expect(info?.waiting).toBeLessThanOrEqual(3);
        // Nobody waits while there is a place.
        if ((info?.waiting ?? 0) > 0) expect(info?.inflight).toBe(2);
      }
      story.clock.advance(200);
      await nextTurn(3);
      // Every deadline has passed: nothing waits, nothing runs, nothing lingers.
      expect(story.core.agents()[0]).toMatchObject({ inflight: 0, waiting: 0 });
      for (const [call, results] of story.outcomes) expect(results, call.callId).toHaveLength(1);
      expect(story.outcomes.size).toBe(story.calls.length);
      expect(new Set(story.sent.map(({ message }) => message.payload.call_id)).size).toBe(story.sent.length);
      // Nothing is left that the core would wait for.
      await story.core.drain();
      await nextTurn(1);
      for (const results of story.outcomes.values()) expect(results).toHaveLength(1);
      expect(story.clock.pending).toBe(0);
    }),
    { numRuns: runs(60) },
  );
}, 60_000);
