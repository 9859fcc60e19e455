import { describe, expect, it } from "vitest";
import { createThreadGates } from "../src/thread-gates/index.ts";
import type { ThreadCall } from "../src/thread-gates/thread-types.ts";

const call: ThreadCall = {
  ...{ threadId: "t1", turnId: "u1", itemId: "i1", directory: "/work", tool: { name: "edit" } },
  input: { path: "a.txt" },
  preview: "--- a/a.txt\n+++ b/a.txt\n@@ -7 +7 @@\n-a\n+b\n",
};

/** The verdict on `call` where the harness decides so, and the event that it was asked with. */
const judged = async (decision: object) => {
  const asked: object[] = [];
  const gates = createThreadGates({
    client: {
      decide: (type: string, payload: object, fields: object) => {
        asked.push({ type, payload, ...fields });
        return Promise.resolve({ origin: "harness", decision });
      },
      notify: () => {},
    } as never,
    toolAgent: "tools",
  });
  const verdict = await gates.gate.before(call, { signal: new AbortController().signal });
  return { verdict, asked };
};

describe("the gates of a thread server", () => {
  it("say who decided by the decision's data, whatever the words of its reason are", async () => {
    const ofPolicy = await judged({ decision: "block", reason: "refused by anna" });
    expect(ofPolicy.verdict).toMatchObject({ verdict: "block", code: "policy.blocked" });
    expect(ofPolicy.verdict).not.toHaveProperty("human");
    const human = { status: "rejected", by: "anna", note: "not now" };
    const ofHuman = await judged({ decision: "block", reason: "no", metadata: { approval: human } });
    expect(ofHuman.verdict).toMatchObject({ verdict: "block", code: "tool.rejected", human });
    const late = { status: "expired" };
    const expired = await judged({ decision: "block", reason: "no", metadata: { approval: late } });
    expect(expired.verdict).toMatchObject({ verdict: "block", code: "approval.expired", isRejection: true });
    const approval = { status: "approved", by: "anna", grant: "gr_1" };
    const allowed = await judged({ decision: "allow", metadata: { approval } });
    expect(allowed.verdict).toMatchObject({ verdict: "allow", human: approval });
    const odd = await judged({
      decision: "allow",
      metadata: { approval: { status: "rejected", by: "anna" } },
    });
    expect(odd.verdict).toMatchObject({ verdict: "allow", human: undefined });
  });

  it("send a call's preview to the harness, for the human whom it asks", async () => {
    const { asked } = await judged({ decision: "allow" });
    expect(asked).toMatchObject([{ type: "pre_action", metadata: { preview: call.preview } }]);
  });

  it("report a prompt and a further request that are given up while a human is asked, and no others", async () => {
    const reports: object[] = [];
    let decide: () => Promise<object> = async () => ({ origin: "harness", decision: { decision: "allow" } });
    const gates = createThreadGates({
      client: {
        decide: () => decide(),
        notify: (type: string, payload: object, fields: object) => reports.push({ type, payload, ...fields }),
      } as never,
      toolAgent: "tools",
    });
    const prompt = {
      ...{ threadId: "t1", turnId: "u1", itemId: "i1", directory: "/work", agent: "coder" },
      ...{ content: [{ type: "text" as const, text: "hello" }], text: "hello" },
    };
    const { signal } = new AbortController();
    expect(await gates.promptGate.before(prompt, { signal })).toMatchObject({ verdict: "allow" });
    expect(reports).toEqual([]);
    decide = async () => ({ origin: "client", code: "cancelled", error: new Error("cancelled") });
    const given = [
      await gates.promptGate.before(prompt, { signal }),
      await gates.promptGate.request({ ...prompt, step: 2 }, { signal }),
    ];
    expect(given).toMatchObject(Array(2).fill({ verdict: "block", code: "tool.cancelled" }));
    expect(reports).toMatchObject([
      { type: "post_action", session_id: "t1", payload: { tool_call_id: "i1", outcome: "cancelled" } },
      { type: "post_action", session_id: "t1", payload: { tool_call_id: "i1/2", outcome: "cancelled" } },
    ]);
  });
});
