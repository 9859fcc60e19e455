import { type AhpEventType, ahpEvents, DecisionSchema } from "@harnesskit/protocol/ahp";
import { describe, expect, it } from "vitest";
import { payloads } from "../../../scripts/lib/ahp-payloads.ts";
import { type AhpHandlers, HandlerError } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event, notification, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const types = Object.keys(ahpEvents) as AhpEventType[];
const blocking = types.filter((type) => ahpEvents[type].blocking);
const telling = types.filter((type) => !ahpEvents[type].blocking);
const fact = { content: "c", source: "s", confidence: 0.5 };

/** Every decision that each blocking type may get. */
const decisions: Record<string, readonly object[]> = {
  pre_action: [
    { decision: "allow" },
    { decision: "allow", modified_payload: { command: "ls" }, metadata: { why: 1 } },
    { decision: "block", reason: "no", metadata: {} },
    { decision: "modify", modified_payload: null },
    { decision: "defer", retry_after_ms: 0, reason: "later" },
    { decision: "escalate", reason: "ask", escalation_target: "ops" },
  ],
  pre_prompt: [{ decision: "allow" }, { decision: "block", reason: "no" }],
  idle: [{ decision: "allow" }, { decision: "defer", reason: "busy" }],
  intent_detection: [
    { decision: "allow", detected_intent: "locate", confidence: 0.9, target_hints: { domain: "coding" } },
    { decision: "block", reason: "no" },
  ],
  context_perception: [
    {
      decision: "allow",
      injected_context: {
        facts: [fact],
        file_contents: [{ path: "a", snippet: "b", relevance_score: 1 }],
        project_summary: { project_name: "p", structure_description: "d" },
        knowledge: ["k"],
        suggestions: ["s"],
      },
    },
    { decision: "block", reason: "no" },
    { decision: "refine", refined_intent: "locate", scope_hints: ["src"] },
  ],
  memory_recall: [
    { decision: "allow", injected_facts: [fact] },
    { decision: "block", reason: "no" },
  ],
  planning: [
    { decision: "allow", selected_strategy: { custom: "mine" }, planning_template: [1] },
    { decision: "block", reason: "no" },
    { decision: "modify", modified_task: "smaller", hints: ["h"] },
  ],
  reasoning: [
    { decision: "allow", hints: ["h"] },
    { decision: "block", reason: "no" },
  ],
  rate_limit: [
    { decision: "retry", retry_after_ms: 5 },
    { decision: "queue" },
    { decision: "skip", reason: "no" },
  ],
  confirmation: [{ decision: "escalate" }, { decision: "approve" }, { decision: "reject", reason: "no" }],
};

describe("decisions", () => {
  it.each(blocking)("of %s come from its handler, each as it is", async (type) => {
    for (const decision of decisions[type] ?? []) {
      const seen: unknown[] = [];
      const handlers: Record<string, unknown> = {
        [type]: (given: unknown) => {
          seen.push(given);
          return decision;
        },
      };
      const { server } = startServer(handlers as AhpHandlers);
      const agent = await RawAgent.ready(server);
      expect((await agent.call("ahp/event", event(type))).result).toEqual(decision);
      expect(seen).toHaveLength(1);
      expect(seen[0]).toMatchObject({ event_type: type, payload: payloads[type] });
      expect(server.stats().decisions).toEqual({ [(decision as { decision: string }).decision]: 1 });
    }
  });

  it("are sent only if they are of the event's type", async () => {
    const cyclic: Record<string, unknown> = { decision: "allow" };
    cyclic.modified_payload = cyclic;
    const wrong: unknown[] = [
      undefined,
      null,
      "allow",
      true,
      {},
      { decision: "yes" },
      { decision: "block" },
      { decision: "modify" },
      { decision: "defer", retry_after_ms: 0.5 },
      { decision: "allow", metadata: { at: new Date(0) } },
      { decision: "allow", modified_payload: () => "allow" },
      { decision: "allow", modified_payload: Number.NaN },
      cyclic,
      [{ decision: "allow" }],
    ];
    for (const [index, value] of wrong.entries()) {
      for (const returned of [value, Promise.resolve(value)]) {
        const { server, errors } = startServer({ pre_action: () => returned as never });
        const agent = await RawAgent.ready(server);
        const { error, result } = await agent.call("ahp/event", event("pre_action"));
        expect(result, String(index)).toBeUndefined();
        expect(error).toMatchObject({ code: -32603, data: { reason: "invalid_decision" } });
        expect(error?.message).toMatch(/^Handler error: Invalid answer of the handler of pre_action: \S/);
        expect(server.stats().invalidDecisions).toBe(1);
        expect(errors).toEqual([expect.objectContaining({ code: "invalid_decision" })]);
      }
    }
    const { server } = startServer({ confirmation: (() => ({ decision: "allow" })) as never });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/event", event("confirmation"))).error?.data.reason).toBe(
      "invalid_decision",
    );
  });

  it("are no more than their schema says: what else a handler adds stays here", async () => {
    const { server } = startServer({ pre_action: () => ({ decision: "allow", secret: "s" }) as never });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
  });
});

describe("a handler that fails", () => {
  it("is -32603 without its text", async () => {
    const failures: (() => never)[] = [
      () => {
        throw new Error("password is hunter2 in /etc/harness");
      },
      () => {
        throw "hunter2";
      },
      (() => Promise.reject(new Error("hunter2"))) as never,
      (() => ({
        // biome-ignore lint/suspicious/noThenProperty: what a hostile value may have
        get then() {
          throw new Error("hunter2");
        },
      })) as never,
    ];
    for (const pre_action of failures) {
      const { server, errors } = startServer({ pre_action });
      const agent = await RawAgent.ready(server);
      const { error } = await agent.call("ahp/event", event("pre_action"));
      expect(error).toEqual({
        code: -32603,
        message: "Handler error: the handler failed",
        data: { reason: "handler_failed" },
      });
      expect(errors).toHaveLength(1);
      expect(server.stats().handlerFailures).toBe(1);
    }
  });

  it("may say why with a HandlerError", async () => {
    const { server } = startServer({
      pre_action: () => {
        throw new HandlerError("the policy store is down", { code: "store_down" });
      },
    });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/event", event("pre_action"))).error).toEqual({
      code: -32603,
      message: "Handler error: the policy store is down",
      data: { reason: "store_down" },
    });
  });
});

describe("without a handler", () => {
  it("gates are blocked", async () => {
    const { server } = startServer();
    const agent = await RawAgent.ready(server);
    for (const type of ["pre_action", "pre_prompt"] as const) {
      expect((await agent.call("ahp/event", event(type))).result).toEqual({
        decision: "block",
        reason: `No handler of this harness decides ${type}`,
      });
    }
  });

  it("events with a decision of their own are not supported, idle is allowed, and a query has no answer", async () => {
    const { server } = startServer({ fallback: () => ({ decision: "allow" }) });
    const agent = await RawAgent.ready(server);
    for (const type of blocking.filter((each) => ahpEvents[each].specialised)) {
      const { result, error } = await agent.call("ahp/event", event(type));
      if (type === "idle") expect(result).toEqual({ decision: "allow" });
      else {
        expect(error).toEqual({
          code: -32603,
          message: `Handler error: Capability not supported: ${type}`,
          data: { reason: "not_supported" },
        });
      }
    }
    const query = { session_id: "s", agent_id: "a", query_type: "t", payload: {} };
    expect((await agent.call("ahp/query", query)).result).toEqual({
      answer: null,
      reason: 'No handler of this harness answers queries of type "t"',
    });
  });

  it("the fallback decides gates and hears of notifications", async () => {
    const seen: string[] = [];
    const { server } = startServer({
      fallback: ({ event_type }) => {
        seen.push(event_type);
        return { decision: "escalate", reason: "no rule" };
      },
      pre_prompt: () => ({ decision: "allow" }),
    });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/event", event("pre_action"))).result.decision).toBe("escalate");
    expect((await agent.call("ahp/event", event("pre_prompt"))).result.decision).toBe("allow");
    await agent.tell(event("session_end"));
    await agent.settled();
    expect(seen).toEqual(["pre_action", "session_end"]);
  });
});

describe("what a handler gets", () => {
  it("is the whole event, what the transport knows and what the agent said of itself", async () => {
    const seen: any[] = [];
    const { server } = startServer({
      pre_action: (given, call) => {
        seen.push(given, call.context, call.handshake, call.requestId, call.batchIndex);
        return { decision: "allow" };
      },
    });
    const agent = await RawAgent.ready(server, { serverContext: { peer: "pid 7" } });
    const full = event("pre_action", {
      depth: 3,
      context: {
        recent_facts: [fact],
        memory_summary: { memory_type: "m", total_items: 1, recent_topics: ["t"] },
        session_stats: { total_actions: 3, total_tokens: 42, duration_ms: 1000, error_count: 0 },
        current_task: "run tests",
        capabilities: { anything: [1] },
      },
      metadata: { trace: "t1" },
    });
    await agent.call("ahp/event", { ...full, unknown_field: 1 });
    expect(seen[0]).toEqual(full);
    expect(seen[1]).toEqual({ peer: "pid 7" });
    expect(seen[2]).toMatchObject({ agent_id: "agent-xyz", agent_info: { framework: "test" } });
    expect(seen.slice(3)).toEqual(["r2", undefined]);
  });

  it("has the defaults of context_perception filled in", async () => {
    const seen: any[] = [];
    const { server } = startServer({
      context_perception: ({ payload }) => {
        seen.push(payload);
        return { decision: "block", reason: "no" };
      },
    });
    const agent = await RawAgent.ready(server);
    await agent.call("ahp/event", event("context_perception"));
    expect(seen[0]).toEqual({
      ...payloads.context_perception,
      domain: "general",
      preferred_modality: "any",
      urgency: "normal",
      freshness: "static",
      constraints: { include_sources: true },
    });
  });

  it("may have any JSON as its free payload", async () => {
    const seen: unknown[] = [];
    const note = ({ payload }: { payload: unknown }) => {
      seen.push(payload);
    };
    const { server } = startServer({ post_action: note, error: note, session_start: note });
    const agent = await RawAgent.ready(server);
    for (const type of ["post_action", "error", "session_start"] as const) {
      for (const payload of [null, 1, "text", [1, [2]], { a: { b: null } }]) {
        await agent.tell(event(type, { payload }));
      }
    }
    await agent.settled();
    expect(seen).toHaveLength(15);
    expect(seen[4]).toEqual({ a: { b: null } });
  });
});

describe("the kind of message", () => {
  it("has to be a request for blocking events: no handler sees a notification", async () => {
    let asked = 0;
    const handlers = Object.fromEntries(blocking.map((type) => [type, () => asked++]));
    const { server, post, shake } = startServer(handlers as AhpHandlers);
    const agent = await RawAgent.ready(server);
    await shake();
    for (const type of blocking) {
      await agent.tell(event(type));
      const reply = await post(notification("ahp/event", event(type)));
      expect(reply).toMatchObject({ id: "", error: { code: -32602, data: { reason: "request_expected" } } });
    }
    await agent.settled();
    expect(asked).toBe(0);
    expect(agent.received).toHaveLength(2);
    expect(server.stats().refusedNotifications).toBe(2 * blocking.length);
  });

  it("has to be a notification for others", async () => {
    let asked = 0;
    const handlers = Object.fromEntries(telling.map((type) => [type, () => void asked++]));
    const { server } = startServer(handlers as AhpHandlers);
    const agent = await RawAgent.ready(server);
    for (const type of telling) {
      const { error } = await agent.call("ahp/event", event(type));
      expect(error, type).toMatchObject({ code: -32602, data: { reason: "notification_expected" } });
    }
    expect(asked).toBe(0);
    for (const type of telling) await agent.tell(event(type));
    await agent.settled();
    expect(asked).toBe(telling.length);
  });
});

describe("an event that does not fit", () => {
  it.each([
    ["a name of Object.prototype as a type", { event_type: "constructor" }],
    ["no session", { session_id: undefined }],
    ["no agent", { agent_id: undefined }],
    ["no payload", { payload: undefined }],
    ["no timestamp", { timestamp: undefined }],
    ["a context that is a list", { context: [] }],
    ["metadata that is a list", { metadata: [] }],
    ["an endless session id", { session_id: "s".repeat(600) }],
  ])("is -32602: %s", async (_name, more) => {
    let asked = 0;
    const { server } = startServer({
      pre_action: () => {
        asked++;
        return { decision: "allow" };
      },
    });
    const agent = await RawAgent.ready(server);
    const { error } = await agent.call("ahp/event", { ...event("pre_action"), ...more });
    expect(error?.code).toBe(-32602);
    expect(error?.data.reason).toMatch(/^(invalid_params|id_too_long)$/);
    expect(asked).toBe(0);
  });

  it("may be too deep in the chain of causes", async () => {
    const { server } = startServer({ pre_action: () => ({ decision: "allow" }) });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/event", event("pre_action", { depth: 10 }))).result).toEqual({
      decision: "allow",
    });
    const { error } = await agent.call("ahp/event", event("pre_action", { depth: 11 }));
    expect(error).toMatchObject({ code: -32602, data: { reason: "depth_exceeded", limit: 10 } });
  });

  it.each(types.filter((type) => Object.keys(payloads[type]).length > 0 && !isFree(type)))(
    "may lack a field of its payload: %s",
    async (type) => {
      const { post, shake, server } = startServer({ fallback: () => ({ decision: "allow" }) });
      await shake();
      for (const field of Object.keys(payloads[type])) {
        const payload = { ...payloads[type] };
        delete payload[field];
        const params = event(type, { payload });
        const message = ahpEvents[type].blocking
          ? request("1", "ahp/event", params)
          : notification("ahp/event", params);
        expect((await post(message))?.error, field).toMatchObject({
          code: -32602,
          data: { reason: "invalid_payload" },
        });
      }
      expect(server.stats().runs).toBe(0);
    },
  );

  it.each([
    ["context_perception", { intent: "guess" }],
    ["context_perception", { domain: "gardening" }],
    ["context_perception", { preferred_modality: "smell" }],
    ["context_perception", { urgency: "asap" }],
    ["context_perception", { freshness: "stale" }],
    ["context_perception", { target: { planet: {} } }],
    ["planning", { available_strategies: ["guess"] }],
    ["reasoning", { reasoning_type: "guess" }],
    ["rate_limit", { limit_type: "guess" }],
    ["confirmation", { confirmation_type: "guess" }],
    ["idle", { idle_duration_ms: 0.5 }],
  ] as const)("may have a value that is none: %s %j", async (type, more) => {
    let asked = 0;
    const { server } = startServer({ [type]: () => asked++ } as AhpHandlers);
    const agent = await RawAgent.ready(server);
    const { error } = await agent.call("ahp/event", event(type, { payload: { ...payloads[type], ...more } }));
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_payload" } });
    expect(asked).toBe(0);
  });
});

function isFree(type: AhpEventType): boolean {
  return ahpEvents[type].payload.safeParse(null).success;
}

describe("null", () => {
  it("in an optional field is absent for the handler, and is not sent", async () => {
    const refine = { decision: "refine", refined_intent: null, refined_target: null, scope_hints: [] };
    const seen: unknown[] = [];
    const { server } = startServer({
      context_perception: ({ context, metadata, payload }) => {
        seen.push({ context, metadata, payload });
        return refine as never;
      },
    });
    const agent = await RawAgent.ready(server);
    const ask = (more: object) =>
      agent.call(
        "ahp/event",
        event("context_perception", {
          payload: { ...payloads.context_perception, ...more },
          context: null,
          metadata: null,
        }),
      );
    expect((await ask({})).result).toStrictEqual({ decision: "refine", scope_hints: [] });
    const [plain] = seen.splice(0);
    const constraints = { max_results: null, max_context_length: null, include_sources: null };
    for (const more of [{ constraints }, { constraints: null }, { domain: null, metadata: null }]) {
      expect((await ask(more)).error).toBeUndefined();
    }
    expect(seen.splice(0)).toStrictEqual([plain, plain, plain]);
    for (const [target, read] of [
      [
        { entity: { name: "n", entity_type: "t", identifier: null } },
        { entity: { name: "n", entity_type: "t" } },
      ],
      [
        { event: { description: "d", event_type: "t", time_range: null } },
        { event: { description: "d", event_type: "t" } },
      ],
      [{ rule: { name: "n", rule_type: "t", scope: null } }, { rule: { name: "n", rule_type: "t" } }],
      [
        { resource: { name: "n", resource_type: "t", constraints: null } },
        { resource: { name: "n", resource_type: "t" } },
      ],
    ]) {
      expect((await ask({ target })).error).toBeUndefined();
      expect(seen.splice(0)).toMatchObject([{ payload: { target: read } }]);
      expect(JSON.stringify(seen)).not.toContain("null");
    }
    for (const more of [{ intent: null }, { target: null }, { target: { location: { path: null } } }]) {
      expect((await ask(more)).error?.code).toBe(-32602);
    }
  });
});

describe("queries", () => {
  it("are answered by their handler, and only with an answer", async () => {
    const query = {
      session_id: "sess-abc",
      agent_id: "a",
      query_type: "policy",
      payload: { question: "may I?" },
    };
    let answer: unknown = { answer: { yes: true }, reason: "because", alternatives: ["ask"] };
    const seen: unknown[] = [];
    const { server } = startServer({
      query: (given) => {
        seen.push(given);
        return answer as never;
      },
    });
    const agent = await RawAgent.ready(server);
    expect((await agent.call("ahp/query", query)).result).toEqual(answer);
    expect(seen).toEqual([query]);
    answer = { reason: "none" };
    expect((await agent.call("ahp/query", query)).error).toMatchObject({
      code: -32603,
      data: { reason: "invalid_decision" },
    });
    expect(server.stats().queries).toBe(1);
    expect(DecisionSchema.safeParse(answer).success).toBe(false);
  });
});
