import { describe, expect, it } from "vitest";
import { HandlerError } from "../src/index.ts";
import { RawAgent } from "./support/agent.ts";
import { event } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const fact = { content: "c", source: "s", confidence: 0.5 };

describe("a handler that fails", () => {
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
});
