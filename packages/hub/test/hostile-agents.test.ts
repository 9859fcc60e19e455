import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { call, openHub } from "./support/open-hub.ts";

const rowsOf = async ({ client }: Awaited<ReturnType<typeof opened>>) =>
  (await client.call("timeline.page")).rows.map(({ summary, state, approval }) => [
    summary,
    state,
    approval?.status,
  ]);

const opened = async (hub: Awaited<ReturnType<typeof openHub>>) => ({
  agent: await hub.agent("codex"),
  client: await hub.client(),
});

const doing = { metadata: { wait_ms: 0 } };
const ended = { outcome: "success" };

describe("a call's id that is used for another action", () => {
  it("has a row of its own: an outcome closes the row of its own action", async () => {
    await using hub = await openHub();
    const at = await opened(hub);
    await at.agent.decide("pre_action", call("a.txt", "c1", "read"));
    await at.agent.decide("pre_action", call("b.txt", "c1", "read"));
    await at.agent.decide("pre_action", call("rm -rf build", "c1"), doing);
    await at.agent.decide("pre_action", call("deploy", "c1"), doing);
    at.agent.notify("post_action", { ...call("a.txt", "c1", "read"), ...ended });
    await until(async () => (await rowsOf(at)).some(([, state]) => state === "done"));
    expect(await rowsOf(at)).toEqual([
      ["bash deploy", "waiting", "pending"],
      ["bash rm -rf build", "refused", undefined],
      ["read b.txt", "running", undefined],
      ["read a.txt", "done", undefined],
    ]);
    expect(hub.errors).toEqual([]);
  });

  it("gives an outcome that does not say which action it is of a row of its own", async () => {
    await using hub = await openHub();
    const at = await opened(hub);
    await at.agent.decide("pre_action", call("a.txt", "c1", "read"));
    await at.agent.decide("pre_action", call("deploy", "c1"), doing);
    at.agent.notify("post_action", { tool_name: "bash", tool_call_id: "c1", arguments: {}, ...ended });
    await until(async () => (await rowsOf(at)).length === 3);
    expect(await rowsOf(at)).toEqual([
      ["bash {}", "done", undefined],
      ["bash deploy", "waiting", "pending"],
      ["read a.txt", "running", undefined],
    ]);
  });

  it("closes no other action's row after a restart of the hub", async () => {
    const stores = { approvals: createMemoryApprovalStore(), timeline: createMemoryTimelineStore() };
    {
      await using hub = await openHub(stores);
      const { agent } = await opened(hub);
      await agent.decide("pre_action", call("a.txt", "c1", "read"));
    }
    await using hub = await openHub(stores);
    const at = await opened(hub);
    at.agent.notify("post_action", { ...call("b.txt", "c1", "read"), ...ended });
    await until(async () => (await rowsOf(at)).length === 2);
    expect(await rowsOf(at)).toEqual([
      ["read b.txt", "done", undefined],
      // The store in memory is the same: no writer of it is gone.
      ["read a.txt", "running", undefined],
    ]);
    at.agent.notify("post_action", { ...call("a.txt", "c1", "read"), ...ended });
    await until(async () => (await rowsOf(at))[1]?.[1] === "done");
  });
});

describe("names that are too long for a store", () => {
  it("a tool's name that cannot be shown whole is refused by that name", async () => {
    await using hub = await openHub();
    const { agent, client } = await opened(hub);
    const long = "x".repeat(256);
    for (const tool of [`${long}one`, `${long}two`]) {
      const { decision } = await agent.decide("pre_action", call("go", "c1", tool), doing);
      expect(decision).toMatchObject({
        decision: "block",
        reason: expect.stringContaining("tool_name has 259 characters; a human is asked about at most 256"),
        metadata: { error: { code: "invalid_argument" } },
      });
    }
    expect((await client.call("inbox.list")).records).toEqual([]);
    expect((await client.call("timeline.page")).rows).toHaveLength(2);
  });
});

describe("a client that invents sessions", () => {
  it("fills its own share of the inbox: it is refused by the limit's name, and others are served", async () => {
    await using hub = await openHub({ limits: { maxQuestionsPerClient: 20 } });
    const { agent, client } = await opened(hub);
    const decide = (index: number) =>
      agent.decide("pre_action", call("deploy"), { ...doing, session_id: `invented ${index}` });
    const verdicts: Awaited<ReturnType<typeof decide>>[] = [];
    while (verdicts.length < 1000) {
      const more = Array.from({ length: 100 }, (_, index) => decide(verdicts.length + index));
      verdicts.push(...(await Promise.all(more)));
    }
    const refused = verdicts.filter(({ decision }) => "metadata" in decision && decision.metadata?.error);
    expect(refused).toHaveLength(980);
    expect(refused[0]?.decision).toMatchObject({
      decision: "block",
      reason: expect.stringContaining("maxQuestionsPerClient of 20 is reached"),
      metadata: { error: { code: "buffer_full", limit: "maxQuestionsPerClient", max: 20 } },
    });

    const other = await hub.agent("claude");
    const asking = other.decide("pre_action", call("npm test", "c1"));
    await until(async () => (await client.call("inbox.list", { agent: "claude" })).records.length === 1);
    const [record] = (await client.call("inbox.list", { agent: "claude" })).records;
    await client.call("inbox.answer", {
      id: record?.id ?? "",
      digest: record?.digest ?? "",
      decision: "approve",
    });
    expect((await asking).decision).toMatchObject({ decision: "allow" });

    // What has a place is found again, and an answer that was taken makes room.
    expect((await decide(0)).decision).toMatchObject({ reason: expect.stringContaining("is pending") });
    const [first] = (await client.call("inbox.list", { session: "invented 0" })).records;
    await client.call("inbox.answer", {
      id: first?.id ?? "",
      digest: first?.digest ?? "",
      decision: "reject",
    });
    expect((await decide(0)).decision).toMatchObject({ decision: "block" });
    await until(async () => {
      const { decision } = await decide(2000);
      return "reason" in decision && decision.reason?.includes("is pending") === true;
    });
  });

  it("gains nothing for long by connecting anew", async () => {
    await using hub = await openHub({ limits: { maxQuestionsPerClient: 2, maxQuestionsPerCredential: 5 } });
    const decisions = [];
    for (let index = 0; index < 6; index++) {
      const agent = await hub.agent("codex", { sessionId: `s${index}` });
      decisions.push((await agent.decide("pre_action", call("deploy"), doing)).decision);
      await agent.close();
    }
    expect(decisions.at(-1)).toMatchObject({
      decision: "block",
      metadata: { error: { limit: "maxQuestionsPerCredential", max: 5 } },
    });
  });
});
