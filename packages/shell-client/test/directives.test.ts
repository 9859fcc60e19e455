import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { nextTurn, until } from "../../../test-kit/test-kit.ts";
import type { ApprovalAsk, ApprovalReply, ShellClientOptions } from "../src/index.ts";
import {
  carry,
  codesOf,
  diagnosed,
  failureOf,
  manualClock,
  never,
  outcomesOf,
  respond,
  say,
  scripted,
} from "./support.ts";

const act = (name: string, more: Partial<ActionDirective> = {}): ActionDirective => ({
  action_type: "com.example.act",
  payload: { name },
  ...more,
});

/** Executors that write down what they do. */
const doing = (more: Partial<ShellClientOptions> = {}) => {
  const done: unknown[] = [];
  const executor = ({ payload }: ActionDirective) => {
    done.push(payload?.name ?? payload?.message);
    return `did ${payload?.name}`;
  };
  const executors = { "com.example.act": executor, render_message: executor, simulate_action: executor };
  return { done, options: { executors, approvalPolicy: { caution: "run" as const }, ...more } };
};

describe("directives", () => {
  it("that throw, reject or hang harm no other, and what hangs is told", async () => {
    const clock = manualClock();
    let told: AbortSignal | undefined;
    const { shell } = scripted(
      (request) => respond(request, [act("throw"), act("reject"), act("hang"), act("odd"), act("fine")]),
      {
        clock,
        limits: { executorTimeoutMs: 500 },
        approvalPolicy: { caution: "run" },
        executors: {
          "com.example.act": ({ payload }, { signal }) => {
            if (payload?.name === "throw") throw new RangeError("thrown");
            if (payload?.name === "reject") return Promise.reject("rejected");
            if (payload?.name === "odd") return Promise.reject(undefined);
            if (payload?.name === "fine") return "fine";
            told = signal;
            return never();
          },
        },
      },
    );
    const sending = shell.send({});
    await until(() => told !== undefined);
    clock.advance(499);
    expect(told?.aborted).toBe(false);
    clock.advance(1);
    const outcome = await sending;
    expect(codesOf(outcome)).toEqual([
      "executor_failed",
      "executor_failed",
      "executor_timeout",
      "executor_failed",
      undefined,
    ]);
    expect(outcomesOf(outcome)).toEqual(["failed", "failed", "failed", "failed", "done"]);
    expect(outcome.results[0]?.error?.cause).toBeInstanceOf(RangeError);
    expect([outcome.status, told?.aborted, clock.pending]).toEqual(["success", true, 0]);
  });

  it("are not carried out when their payload is none of their type", async () => {
    const payload = z.object({ name: z.string().max(3) });
    const options = doing({
      actionTypes: [
        { type: "com.example.act", payload, defaultRisk: "safe" },
        {
          type: "com.example.odd",
          payload: z.object({}).refine(() => JSON.parse("{")),
          defaultRisk: "safe",
          needsPayload: true,
        },
      ],
    });
    const { executors = {} } = options.options;
    const odd = executors.simulate_action;
    if (odd === undefined) throw new Error("the action has an executor");
    const { outcome, diagnostics } = await carry(
      [
        act("long"),
        act("ok"),
        { action_type: "render_message" },
        { ...say(""), payload: { message: 5 } },
        { action_type: "com.example.odd", payload: {} },
      ],
      { ...options.options, executors: { ...executors, "com.example.odd": odd } },
    );
    expect(options.done).toEqual(["ok"]);
    expect(outcomesOf(outcome)).toEqual(["failed", "done", "failed", "failed", "failed"]);
    expect(codesOf(outcome)[0]).toBe("invalid_payload");
    expect(diagnosed(diagnostics)).toEqual(Array.from({ length: 4 }, () => "invalid_payload"));
    expect(JSON.stringify(diagnostics)).not.toContain("long");
  });

  it("are not begun when the caller has given up", async () => {
    const abort = new AbortController();
    const { done, options } = doing();
    const { outcome } = await (async () => {
      const parts = scripted((request) => respond(request, [act("a"), act("hang"), act("b")]), {
        ...options,
        executors: {
          "com.example.act": (directive, call) => {
            if (directive.payload?.name !== "hang") return void done.push(directive.payload?.name);
            call.signal.addEventListener("abort", () => done.push("told"));
            abort.abort();
            return never();
          },
        },
      });
      return { outcome: await parts.shell.send({ signal: abort.signal }) };
    })();
    expect(done).toEqual(["a", "told"]);
    expect(outcomesOf(outcome)).toEqual(["done", "failed", "not_reached"]);
    expect(failureOf(outcome).code).toBe("cancelled");
  });
});

describe("types that the shell does not know", () => {
  const effects: string[] = [];
  const spied = (name: string) => () => void effects.push(name);

  it("are those too that every object has by inheritance", async () => {
    effects.length = 0;
    const types = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];
    const executors = Object.assign(Object.create({ inherited: spied("inherited") }), {
      render_message: spied("shown"),
    });
    const directives = [...types, "inherited"].map((action_type) => ({
      action_type,
      payload: { message: "m" },
    }));
    const { outcome } = await carry(directives, { executors });
    expect(new Set(outcomesOf(outcome))).toEqual(new Set(["skipped_unknown"]));
    expect(effects).toEqual(directives.map(() => "shown"));
  });

  it("show nothing where messages are not shown without a question, and survive one that cannot be shown", async () => {
    const directives = [{ action_type: "com.example.x", payload: { message: "m" } }, { action_type: "noop" }];
    const asks = await carry(directives, { approvalPolicy: { safe: "ask" }, approve: () => "approved" });
    expect(asks.shown).toEqual([]);
    const throws = await carry(directives, { executors: { render_message: () => Promise.reject(1) } });
    expect(outcomesOf(throws.outcome)).toEqual(["skipped_unknown", "done"]);
  });
});

it("deadlines count from the receipt, also while somebody is asked and while it is carried out", async () => {
  const clock = manualClock();
  const start = clock.now();
  const deadlines: (number | undefined)[] = [];
  let asked = 0;
  let running = 0;
  const { shell } = scripted(
    async (request) => {
      // What the engine takes does not count.
      clock.advance(5000);
      return respond(request, [
        act("none"),
        act("over", { deadline_ms: 0 }),
        act("slow", { deadline_ms: 100 }),
        act("asked", { deadline_ms: 200, requires_user_approval: true }),
        act("late", { deadline_ms: 150 }),
        act("in time", { deadline_ms: 1e300 }),
      ]);
    },
    {
      clock,
      approvalPolicy: { caution: "run" },
      approve: () => {
        asked++;
        return never();
      },
      executors: {
        "com.example.act": ({ payload }, { deadlineAtMs }) => {
          deadlines.push(deadlineAtMs);
          if (payload?.name !== "slow") return;
          running++;
          return never();
        },
      },
    },
  );
  const sending = shell.send({});
  await until(() => running === 1);
  clock.advance(100);
  await until(() => asked === 1);
  clock.advance(100);
  const outcome = await sending;
  expect(outcomesOf(outcome)).toEqual(["done", "expired", "expired", "expired", "expired", "done"]);
  expect(new Set(codesOf(outcome))).toEqual(new Set([undefined, "deadline_exceeded"]));
  expect(deadlines).toEqual([undefined, start + 5100, 1e300 + start]);
});

describe("approval", () => {
  type Reply = ApprovalReply | undefined | Promise<ApprovalReply | undefined>;
  const carryWith = async (reply: (ask: ApprovalAsk) => Reply, more: Partial<ShellClientOptions> = {}) => {
    const asks: ApprovalAsk[] = [];
    const { done, options } = doing({
      approve: (ask) => {
        asks.push(ask);
        return reply(ask);
      },
      ...more,
    });
    const run = async (...directives: unknown[]) => ({ ...(await carry(directives, options)), done, asks });
    return run;
  };

  it("is asked for before a directive that requires it is carried out, and only a yes is one", async () => {
    const required = act("x", { requires_user_approval: true, risk_tier: "safe" });
    const approved = await (await carryWith(() => "approved"))(required);
    expect([approved.done, outcomesOf(approved.outcome)]).toEqual([["x"], ["done"]]);
    expect(approved.asks).toEqual([expect.objectContaining({ why: "directive", directive: required })]);
    const noes: unknown[] = [
      "refused",
      { decision: "refused", reason: "not today" },
      undefined,
      null,
      true,
      1,
      "yes",
      "APPROVED",
      ["approved"],
      {},
      { decision: true },
      { approved: true },
      { decision: "approved", digest: `sha256:${"0".repeat(64)}` },
      { decision: "approved", digest: null },
      (ask: ApprovalAsk) => Promise.reject(new Error(`closed ${ask.why}`)),
      {
        get decision() {
          throw new Error("hostile");
        },
      },
    ];
    for (const no of noes) {
      const { done, outcome } = await (
        await carryWith((ask) => (typeof no === "function" ? no(ask) : no) as Reply)
      )(required, say("on"));
      expect([no, done, outcomesOf(outcome)]).toEqual([no, ["on"], ["refused", "done"]]);
    }
    expect(
      codesOf((await (await carryWith(() => ({ decision: "approved", digest: "x" })))(required)).outcome),
    ).toEqual(["approval_mismatch"]);
    const nobody = await carry([required], { executors: { "com.example.act": () => expect.unreachable() } });
    expect(codesOf(nobody.outcome)).toEqual(["no_approver"]);
  });

  it("is asked for by the tier, which an engine can raise and not lower", async () => {
    const simulate = (more: object) => ({ action_type: "simulate_action", payload: { name: "s" }, ...more });
    const run = await carryWith(() => "approved", { approvalPolicy: {} });
    const { asks, done } = await run(
      say("safe"),
      say("raised", { risk_tier: "caution" }),
      simulate({ risk_tier: "safe" }),
      simulate({}),
      act("unregistered", { risk_tier: "safe" }),
      act("dangerous", { risk_tier: "dangerous" }),
    );
    expect(asks.map(({ riskTier, why }) => [riskTier, why])).toEqual([
      ["caution", "risk"],
      ["dangerous", "risk"],
      ["dangerous", "risk"],
      ["caution", "risk"],
      ["dangerous", "risk"],
    ]);
    expect(done).toEqual(["safe", "raised", "s", "s", "unregistered", "dangerous"]);
    const refusing = await carryWith(() => "approved", {
      approvalPolicy: { dangerous: "refuse", caution: "run" },
    });
    const { outcome, asks: none } = await refusing(simulate({ requires_user_approval: true }), act("x"));
    expect([codesOf(outcome), none]).toEqual([["refused_by_policy", undefined], []]);
  });

  it("is for the very object that is carried out, which nobody can change meanwhile", async () => {
    const sentDirective = act("shown", {
      requires_user_approval: true,
      payload: { name: "shown", deep: { to: ["me"] } },
    });
    let ran: ActionDirective | undefined;
    let seen: ApprovalAsk | undefined;
    // An engine of the same process keeps the response and changes it while the user reads.
    const { shell } = scripted((request) => respond(request, [sentDirective]), {
      approve: async (ask) => {
        seen = ask;
        const hostile = sentDirective.payload as { name: string; deep: { to: string[] } };
        hostile.name = "other";
        hostile.deep.to.push("attacker");
        (sentDirective as { action_type: string }).action_type = "simulate_action";
        expect(() => Object.assign(ask.directive.payload ?? {}, { name: "other" })).toThrow(TypeError);
        expect(() => ((ask.directive as { risk_tier?: string }).risk_tier = "safe")).toThrow(TypeError);
        return { decision: "approved", digest: ask.digest };
      },
      executors: {
        "com.example.act": (directive) => {
          ran = directive;
        },
      },
    });
    const outcome = await shell.send({});
    expect(ran).toBe(seen?.directive);
    expect(ran?.payload).toEqual({ name: "shown", deep: { to: ["me"] } });
    expect(outcome.results[0]?.directive).toBe(ran);
    expect(seen?.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("is asked for once at a time, bounded by time, and what hangs is told and refused", async () => {
    const clock = manualClock();
    const signals: AbortSignal[] = [];
    const { done, options } = doing({
      clock,
      limits: { approvalTimeoutMs: 1000 },
      approve: ({ signal }) => {
        signals.push(signal);
        return never();
      },
    });
    const together = { execution: "parallel", requires_user_approval: true } as const;
    const { shell } = scripted(
      (request) => respond(request, [act("a", together), act("b", together), act("c")]),
      options,
    );
    const sending = shell.send({});
    for (const count of [1, 2]) {
      await until(() => signals.length === count);
      await nextTurn();
      expect(signals.length).toBe(count);
      clock.advance(1000);
    }
    const outcome = await sending;
    expect(codesOf(outcome)).toEqual(["not_answered", "not_answered", undefined]);
    expect(done).toEqual(["c"]);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it("that comes when the caller has given up, or the time is over, is too late", async () => {
    const abort = new AbortController();
    const clock = manualClock();
    const { done, options } = doing({
      clock,
      approve: ({ directive }) => {
        if (directive.payload?.name === "late") clock.advance(100);
        else abort.abort();
        return "approved";
      },
    });
    const required = { requires_user_approval: true, deadline_ms: 100 };
    const { shell } = scripted(
      (request) =>
        respond(request, [act("late", required), act("given up", { ...required, deadline_ms: 200 })]),
      options,
    );
    const outcome = await shell.send({ signal: abort.signal });
    expect([outcomesOf(outcome), codesOf(outcome)]).toEqual([
      ["expired", "not_reached"],
      ["deadline_exceeded", "cancelled"],
    ]);
    expect([done, clock.pending]).toEqual([[], 0]);
  });
});
