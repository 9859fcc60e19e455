import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { HarnessError, systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { HubError } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

const pendingOf = async (client: Awaited<ReturnType<Awaited<ReturnType<typeof openHub>>["client"]>>) => {
  let found = (await client.call("inbox.list", { status: "pending" })).records[0];
  await until(async () => {
    found = (await client.call("inbox.list", { status: "pending" })).records[0];
    return found !== undefined;
  });
  if (found === undefined) throw new ReferenceError("no question is pending");
  return found;
};

describe("a decision by policy", () => {
  it("is answered at once, and is a row that the outcome closes", async () => {
    await using hub = await openHub();
    const agent = await hub.agent("codex");
    const client = await hub.client();
    const verdict = await agent.decide("pre_action", call("ls", "c1", "read"));
    expect(verdict.decision).toMatchObject({ decision: "allow" });
    const [row] = (await client.call("timeline.page")).rows;
    expect(row).toMatchObject({
      agent: "codex",
      session: "s1",
      callId: "c1",
      tool: "read",
      summary: "read ls",
      state: "running",
      decision: { decision: "allow", source: "rule", rule: "reads" },
    });
    agent.notify("post_action", { ...call("ls", "c1", "read"), outcome: "success", result: "a.txt\nb.txt" });
    await until(async () => (await client.call("timeline.page")).rows[0]?.state === "done");
    const detail = await client.call("timeline.get", { id: row?.id ?? 0 });
    expect(detail).toMatchObject({ input: { value: { command: "ls" } }, output: { value: "a.txt\nb.txt" } });
    expect(detail.row.durationMs).toBeGreaterThanOrEqual(0);
    expect(hub.errors).toEqual([]);
  });

  it("that blocks is a refused row with its rule and reason", async () => {
    await using hub = await openHub();
    const agent = await hub.agent("codex");
    const { decision } = await agent.decide("pre_action", call("rm -rf build"));
    expect(decision).toMatchObject({ decision: "block", reason: "it removes files (rule removes)" });
    const client = await hub.client();
    const { rows } = await client.call("timeline.page", { filter: { failedOnly: true } });
    expect(rows).toMatchObject([
      { state: "refused", decision: { rule: "removes", decision: "block", reason: "it removes files" } },
    ]);
    // What matched stands beside the rule's own words.
    const { explanation } = await client.call("timeline.get", { id: rows[0]?.id ?? 0 });
    expect(explanation?.why).toContain("tool: bash; cel: ");
    const { policy } = await client.call("policy.get");
    expect(policy.rules).toContainEqual(
      expect.objectContaining({ name: "removes", hits: 1, decisions: { block: 1 }, text: expect.anything() }),
    );
  });

  it.each([undefined, "c1"])(
    "that blocks stays one row when its agent says so, too (call %s)",
    async (callId) => {
      await using hub = await openHub();
      const agent = await hub.agent("codex");
      const client = await hub.client();
      await agent.decide("pre_action", call("rm -rf build", callId));
      agent.notify("post_action", { ...call("rm -rf build", callId), outcome: "refused" });
      agent.notify("post_action", { ...call("ls", "c2", "read"), outcome: "success" });
      await until(async () => (await client.call("timeline.page")).rows[0]?.callId === "c2");
      const { rows } = await client.call("timeline.page");
      expect(rows).toMatchObject([
        { callId: "c2", state: "done" },
        { state: "refused", decision: { rule: "removes" } },
      ]);
      expect(rows).toHaveLength(2);
      // An agent that did it all the same is seen.
      agent.notify("post_action", { ...call("rm -rf build", callId), outcome: "success" });
      await until(async () => (await client.call("timeline.page")).rows[0]?.state === "done");
      await until(async () => (await client.call("timeline.page")).rows.length === 3);
    },
  );
});

describe("an escalation", () => {
  it("of a prompt shows the prompt, whatever other fields the agent adds", async () => {
    const policyText =
      "version: 1\nname: prompts\ndefaults:\n  pre_prompt: { decision: escalate, reason: it is a prompt }\nrules: []\n";
    await using hub = await openHub({ policyText });
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const prompt = { session_id: "s1", prompt: "send the keys to me", text: "say hello" };
    const deciding = agent.decide("pre_prompt", prompt as never);
    const record = await pendingOf(client);
    expect(record.subject).toMatchObject({ tool: "prompt", input: { text: "send the keys to me" } });
    await client.call("inbox.answer", { id: record.id, digest: record.digest, decision: "reject" });
    expect((await deciding).decision).toMatchObject({ decision: "block" });
  });

  it("holds the agent until a human approves, once, and says who did", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client("page")];
    const deciding = agent.decide("pre_action", call("npm test", "c1"));
    const record = await pendingOf(client);
    expect(record).toMatchObject({
      origin: { agent: "codex", session: "s1", callId: "c1" },
      subject: { tool: "bash", input: { command: "npm test" } },
      rule: { id: "commands", reason: "it runs a command" },
    });
    await client.call("inbox.answer", { id: record.id, digest: record.digest, decision: "approve" });
    const { decision } = await deciding;
    expect(decision).toMatchObject({
      decision: "allow",
      metadata: {
        approval: { by: "ada (page)" },
        policy: { rule: "commands", why: "approved by ada (page)" },
      },
    });
    await until(async () => (await client.call("timeline.page")).rows[0]?.state === "running");
    agent.notify("post_action", { ...call("npm test", "c1"), outcome: "error", error: "2 tests failed" });
    await until(async () => (await hub.approvals.get(record.id))?.effect === "failed");
    await until(async () => (await client.call("timeline.page")).rows[0]?.approval?.effect === "failed");
    expect((await client.call("timeline.page")).rows).toMatchObject([
      { state: "failed", outcome: "2 tests failed", approval: { status: "approved", by: "ada (page)" } },
    ]);
  });

  it("has the time of the action in its row, without the human's wait", async () => {
    let laterMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + laterMs };
    const [approvals, timeline] = [
      createMemoryApprovalStore({ clock }),
      createMemoryTimelineStore({ clock }),
    ];
    await using hub = await openHub({ approvals, timeline, clock });
    const [agent, client] = [await hub.agent("codex"), await hub.client("page")];
    const deciding = agent.decide("pre_action", call("npm test", "c1"));
    const { id, digest } = await pendingOf(client);
    laterMs = 65_000;
    await client.call("inbox.answer", { id, digest, decision: "approve" });
    expect((await deciding).decision).toMatchObject({ decision: "allow" });
    agent.notify("post_action", { ...call("npm test", "c1"), outcome: "success" });
    await until(async () => (await client.call("timeline.page")).rows[0]?.approval?.effect === "done");
    const [row] = (await client.call("timeline.page")).rows;
    expect((row?.endedAtMs ?? 0) - (row?.atMs ?? 0)).toBeGreaterThanOrEqual(65_000);
    expect(row?.durationMs).toBeLessThan(60_000);
  });

  it("that is rejected is a block with the human's reason", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm publish"));
    const { id, digest } = await pendingOf(client);
    await client.call("inbox.answer", { id, digest, decision: "reject", note: "not on a Friday" });
    expect((await deciding).decision).toMatchObject({
      decision: "block",
      reason: "refused by ada (terminal): not on a Friday",
    });
    await until(async () => (await client.call("timeline.page")).rows[0]?.state === "refused");
  });

  it("is deferred before the agent's deadline, and the repeated call finds the answer, once", async () => {
    await using hub = await openHub({ limits: { holdMs: 0, retryAfterMs: 5 } });
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const first = await agent.decide("pre_action", call("npm test"));
    const record = await pendingOf(client);
    expect(first.decision).toMatchObject({
      decision: "defer",
      retry_after_ms: 5,
      reason: `approval ${record.id} is pending in the hub's inbox (it runs a command); repeat the same call`,
    });
    await client.call("inbox.answer", { id: record.id, digest: record.digest, decision: "approve" });
    const second = await agent.decide("pre_action", call("npm test"));
    expect(second.decision).toMatchObject({ decision: "allow" });
    const third = await agent.decide("pre_action", call("npm test"));
    expect(third.decision).toMatchObject({ decision: "defer" });
    expect((await client.call("inbox.list", { status: "pending" })).records).toHaveLength(1);
    expect((await client.call("timeline.page")).rows).toHaveLength(2);
  });

  it("that is repeated while the disk is full is refused with the code of the store", async () => {
    const timeline = createMemoryTimelineStore();
    await using hub = await openHub({ timeline });
    const agent = await hub.agent("codex");
    const ask = async () =>
      (await agent.decide("pre_action", call("make", "c1"), { metadata: { wait_ms: 0 } })).decision;
    expect(await ask()).toMatchObject({ decision: "block", metadata: { approval: { status: "pending" } } });
    timeline.write = () => Promise.reject(new HarnessError("store_full", "the disk is full"));
    expect(await ask()).toMatchObject({ decision: "block", metadata: { error: { code: "store_full" } } });
    expect(hub.errors).toContainEqual(expect.objectContaining({ code: "store_full" }));
  });

  it("of a call id whose answer was used is refused: it may have been done", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm test", "c1"));
    const { id, digest } = await pendingOf(client);
    await client.call("inbox.answer", { id, digest, decision: "approve" });
    await deciding;
    const { decision } = await agent.decide("pre_action", call("npm test", "c1"));
    expect(decision).toMatchObject({
      decision: "block",
      reason: `approval ${id}: its answer was used by an earlier call, which may have done it`,
    });
  });

  it("of a client that cannot wait is refused with the ticket", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const { decision } = await agent.decide("pre_action", call("npm test"), { metadata: { wait_ms: 0 } });
    const { id } = await pendingOf(client);
    expect(decision).toMatchObject({
      decision: "block",
      reason: expect.stringContaining(`approval ${id} is pending`),
    });
  });

  it("keeps the question of an agent that is lost, and nothing is taken for it", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm test", "c1"));
    const { id, digest } = await pendingOf(client);
    await agent.close();
    expect((await deciding).decision).toMatchObject({ decision: "block" });
    await until(() => hub.hub.stats().held === 0);
    await client.call("inbox.answer", { id, digest, decision: "approve" });
    expect(await hub.approvals.get(id)).toMatchObject({ status: "approved", effect: "none" });
    const again = await hub.agent("codex");
    expect((await again.decide("pre_action", call("npm test", "c1"))).decision).toMatchObject({
      decision: "allow",
    });
  });

  it("by a confirmation is approved or rejected", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const ask = () =>
      agent.decide("confirmation", {
        session_id: "s1",
        confirmation_type: "user_confirm",
        message: "Deploy?",
      });
    for (const [answer, decision] of [
      ["approve", "approve"],
      ["reject", "reject"],
    ] as const) {
      const deciding = ask();
      const record = await pendingOf(client);
      expect(record.subject).toMatchObject({ tool: "confirmation", input: { message: "Deploy?" } });
      await client.call("inbox.answer", { id: record.id, digest: record.digest, decision: answer });
      const given = (await deciding).decision;
      expect(given).toMatchObject({ decision });
      if (answer === "reject") {
        const approval = { id: record.id, status: "rejected", by: "ada (terminal)" };
        expect(given).toMatchObject({ metadata: { approval } });
      }
    }
    expect(hub.errors).toEqual([]);
  });

  it("by a confirmation that no human was asked about says so: its metadata has the error, or the approval that waits", async () => {
    await using hub = await openHub({ limits: { holdMs: 0, maxQuestionsPerClient: 1 } });
    const agent = await hub.agent("codex");
    const ask = async (message: string) => {
      const payload = { session_id: "s1", confirmation_type: "user_confirm", message } as const;
      return (await agent.decide("confirmation", payload)).decision;
    };
    expect(await ask("Deploy?")).toMatchObject({
      decision: "reject",
      metadata: { approval: { id: expect.any(String), status: "pending" } },
    });
    expect(await ask("Publish?")).toMatchObject({
      decision: "reject",
      metadata: { error: { code: "buffer_full", max: 1 } },
    });
  });

  it("is answered by a grant from then on, until it is revoked", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm test"));
    const { id, digest } = await pendingOf(client);
    const always = { reach: "agent", input: { command: { startsWith: "npm test" } } } as const;
    const preview = await client.call("inbox.previewGrant", { id, always });
    expect(preview.lines.join("\n")).toContain('starts with "npm test"');
    await client.call("inbox.answer", { id, digest, decision: "approve", always });
    await deciding;
    const granted = await agent.decide("pre_action", call("npm test -- --watch"));
    expect(granted.decision).toMatchObject({
      decision: "allow",
      metadata: { policy: { why: "allowed by a grant of ada (terminal)" } },
    });
    const [{ grant, lines } = { grant: undefined, lines: [] }] = (await client.call("grants.list")).grants;
    expect(lines.slice(0, -1)).toEqual(preview.lines.slice(0, -1));
    await client.call("grants.revoke", { id: grant?.id ?? "" });
    const asked = await agent.decide("pre_action", call("npm test -- -u"), { metadata: { wait_ms: 0 } });
    expect(asked.decision).toMatchObject({ decision: "block" });
  });

  it("of a policy that changed meanwhile does not outlive it", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm test"));
    const { id, digest } = await pendingOf(client);
    const { parsePolicy } = await import("@harnesskit/policy");
    hub.policy.replace(
      parsePolicy(
        "version: 1\nrules:\n  - name: none\n    when: { tool: bash }\n    then: { decision: block, reason: closed }\n",
      ),
    );
    await client.call("inbox.answer", { id, digest, decision: "approve" });
    expect((await deciding).decision).toMatchObject({ decision: "block", reason: "closed (rule none)" });
    expect(await hub.approvals.get(id)).toMatchObject({ effect: "failed" });
  });
});

describe("answers", () => {
  it("count once: of 100 at once the others learn who was first", async () => {
    await using hub = await openHub();
    const [agent, client, other] = [
      await hub.agent("codex"),
      await hub.client("one"),
      await hub.client("other"),
    ];
    const deciding = agent.decide("pre_action", call("npm test"));
    const { id, digest } = await pendingOf(client);
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? client : other).call("inbox.answer", {
          id,
          digest,
          decision: index % 3 === 0 ? "approve" : "reject",
        }),
      ),
    );
    const refused = answers.flatMap((answer) =>
      answer.status === "rejected" ? [answer.reason as unknown] : [],
    );
    expect(refused).toHaveLength(99);
    for (const error of refused) {
      expect(HubError.isInstance(error) && error.code).toBe("already_answered");
      expect(HubError.isInstance(error) && error.record?.answer?.by).toBe("ada (one)");
    }
    expect((await deciding).decision).toMatchObject({ decision: "allow" });
  });

  it("with a wrong digest, to another id, and too many are refused and recorded", async () => {
    await using hub = await openHub({ limits: { maxAnswersPerMinute: 3 } });
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const deciding = agent.decide("pre_action", call("npm test"), { metadata: { wait_ms: 0 } });
    await deciding;
    const { id } = await pendingOf(client);
    const answer = (fields: { id: string; digest?: string }) =>
      client
        .call("inbox.answer", { digest: `sha256:${"0".repeat(64)}`, decision: "approve", ...fields })
        .catch((error: unknown) => (HubError.isInstance(error) ? error.code : error));
    expect(await answer({ id })).toBe("wrong_digest");
    expect(await answer({ id: "apr_other" })).toBe("approval_not_found");
    expect(await answer({ id, digest: "sha256:0" })).toBe("invalid_params");
    expect(await answer({ id })).toBe("wrong_digest");
    expect(await answer({ id })).toBe("rate_limited");
    expect(await hub.approvals.get(id)).toMatchObject({ status: "pending" });
    expect(hub.entries.filter(({ action }) => action === "hub.answer").map(({ outcome }) => outcome)).toEqual(
      ["refused", "refused", "refused", "limited"],
    );
  });
});

describe("an agent that leaves while its question is pending", () => {
  it("has it withdrawn by the report that the call was cancelled, so that no answer is taken any more", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("acp.gemini"), await hub.client()];
    const abort = new AbortController();
    const asked = agent.decide("pre_action", call("./publish.sh", "c1"), { signal: abort.signal });
    const { id, digest } = await pendingOf(client);
    abort.abort();
    expect((await asked).decision).toMatchObject({ decision: "block" });
    agent.notify("post_action", { ...call("./publish.sh", "c1"), outcome: "cancelled", error: "it left" });
    await agent.flush();
    await agent.close();
    await until(async () => (await client.call("inbox.list", {})).records[0]?.status === "withdrawn");
    const answer = client.call("inbox.answer", { id, digest, decision: "approve" });
    await expect(answer).rejects.toMatchObject({ name: "HubError", code: "withdrawn" });
    expect((await client.call("timeline.page")).rows[0]).toMatchObject({ callId: "c1", state: "refused" });
  });
});
