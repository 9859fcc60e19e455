import { createAhpClient } from "@harnesskit/ahp-client";
import type { AuditEntryInput } from "@harnesskit/audit";
import { createHub, type Hub, type HubOptions } from "@harnesskit/hub";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { openPostgresStore, type PostgresStore } from "@harnesskit/store-postgres";
import type { TimelineStore } from "@harnesskit/timeline";
import { expect, it, onTestFinished, vi } from "vitest";
import { startPostgres } from "../../../../scripts/lib/postgres.mjs";

const openHub = (store: PostgresStore, timeline: TimelineStore, options: Partial<HubOptions> = {}) =>
  createHub({
    version: "1.0.0",
    policy: createPolicyHarness({ policy: parsePolicy(policyText) }),
    approvals: store.approvals,
    timeline,
    ...options,
  });

const connectAgent = async (hub: Hub) => {
  const agent = createAhpClient({
    exchange: { handle: hub.exchange.handle } as never,
    framework: "test",
    version: "1.0.0",
    agentId: "codex",
  });
  await agent.connect();
  return agent;
};

const policyText = "version: 1\ndefaults: { gate: allow }\nrules: []";

it("has the rows of all that was allowed and done while PostgreSQL was stopped, once it is started again", {
  timeout: 60_000,
}, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.end());
  const store = await openPostgresStore({ url: server.url, limits: { maxConnections: 2 } });
  const timeline = await store.openTimeline();
  const entries: AuditEntryInput[] = [];
  const errors: unknown[] = [];
  const hub = openHub(store, timeline, {
    audit: { record: (entry) => entries.push(entry) },
    onError: (error) => errors.push(error),
  });
  await hub.start();
  const agent = await connectAgent(hub);
  onTestFinished(async () => {
    await agent.close();
    await hub.close();
    await store.close();
  });
  const act = async (id: string) => {
    const call = {
      action_type: "tool_call",
      tool_name: "bash",
      tool_call_id: id,
      arguments: { id },
    } as const;
    const { decision } = await agent.decide("pre_action", call);
    agent.notify("post_action", { ...call, outcome: "success", result: id });
    return decision.decision;
  };
  const rows = async () => (await timeline.page({ filter: { agent: "codex", tool: "bash" } })).rows;
  await act("before");
  await vi.waitFor(async () => expect(await rows()).toMatchObject([{ callId: "before", state: "done" }]));
  await server.say("stop");
  for (let count = 1; count <= 20; count++) expect(await act(`away-${count}`)).toBe("allow");
  expect(await agent.flush()).toBe(true);
  await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0), { timeout: 20_000 });
  await server.say("start");
  await vi.waitFor(async () => expect(await rows()).toHaveLength(21), { timeout: 20_000, interval: 100 });
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(["done"]));
  const decided = entries.filter(({ details }) => details?.decision === "allow");
  expect(decided.map(({ details }) => details?.call_id)).toContain("away-20");
  expect(decided).toHaveLength(21);
});
