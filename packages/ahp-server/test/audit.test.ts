import { describe, expect, it } from "vitest";
import { RawAgent } from "./support/agent.ts";
import { event, handshake, notification, request, run } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const secret = "SECRET-TEXT-THAT-NO-LOG-HOLDS";

describe("the audit log", () => {
  it("has every decision, refusal and contract event, and no content", async () => {
    const { server, entries, clock } = startServer({
      pre_action: ({ payload }) => {
        if ((payload as { fail?: boolean }).fail) throw new Error(secret);
        return { decision: "block", reason: secret, metadata: { secret } };
      },
      query: () => ({ answer: secret, reason: secret }),
      post_action: () => new Promise(() => {}),
    });
    const agent = RawAgent.connect(server);
    const gate = event("pre_action", {
      payload: { secret },
      context: { current_task: secret },
      metadata: { secret },
      depth: 2,
    });
    await agent.call("ahp/event", gate);
    await agent.call("ahp/handshake", handshake());
    await agent.call("ahp/event", gate);
    await agent.call("ahp/event", event("pre_action", { payload: { fail: true, secret } }));
    await agent.call("ahp/event", { ...gate, depth: 11 });
    await agent.call("ahp/batch", { events: [gate, event("post_action", { payload: secret })].slice(0, 1) });
    await agent.call("ahp/query", {
      session_id: "sess-abc",
      agent_id: "agent-xyz",
      query_type: "policy",
      payload: { question: secret },
    });
    await agent.tell(event("run_lifecycle", { payload: run("executing", 1, { prompt: secret }) }));
    await agent.tell(event("post_action", { payload: secret }));
    await agent.call("ahp/unknown", { secret });
    clock.advance(9000);
    await agent.settled();
    const told = entries().map(({ action, outcome, request_id, session_id, agent_id, details }) => [
      action,
      outcome,
      request_id,
      session_id && agent_id && `${session_id} ${agent_id}`,
      details,
    ]);
    const who = "sess-abc agent-xyz";
    const type = { event_type: "pre_action" };
    expect(told).toEqual([
      ["ahp.event", "refused", "r1", who, { ...type, rpc_code: -32600, reason: "handshake_required" }],
      ["ahp.handshake", "ok", "r2", who, { protocol_version: "2.4" }],
      ["ahp.event", "ok", "r3", who, { ...type, depth: 2, decision: "block" }],
      ["ahp.event", "failed", "r4", who, { ...type, depth: 0, reason: "handler_failed" }],
      ["ahp.event", "limited", "r5", who, { ...type, rpc_code: -32602, reason: "depth_exceeded" }],
      ["ahp.event", "ok", "r6", who, { ...type, depth: 2, batch_index: 0, decision: "block" }],
      ["ahp.batch", "ok", "r6", undefined, { events: 1 }],
      ["ahp.query", "ok", "r7", who, { query_type: "policy" }],
      ["ahp.contract", "ok", undefined, who, { event_type: "run_lifecycle", run_id: "run-1", applied: true }],
      ["ahp.message", "refused", "r8", undefined, { rpc_code: -32601, reason: "unknown_method" }],
      ["ahp.event", "timeout", undefined, who, { event_type: "post_action", depth: 0, reason: "timeout" }],
      ["ahp.message", "refused", "r9", undefined, { rpc_code: -32601, reason: "unknown_method" }],
    ]);
    expect(JSON.stringify(entries())).not.toContain(secret);
    expect(entries().every(({ marks }) => marks === undefined)).toBe(true);
  });

  it("has no part in the decision: a sink that throws changes nothing", async () => {
    const { shake, post, errors } = startServer(
      { pre_action: () => ({ decision: "allow" }) },
      {
        audit: {
          record: () => {
            throw new Error("disk full");
          },
        },
      },
    );
    await shake();
    expect((await post(request(1, "ahp/event", event("pre_action"))))?.result).toEqual({ decision: "allow" });
    expect(await post(notification("ahp/event", event("post_action")))).toBeUndefined();
    expect(errors).toHaveLength(3);
  });
});
