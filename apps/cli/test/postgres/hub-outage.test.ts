import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import type { AuditEntryInput } from "@harnesskit/audit";
import { createHub, type Hub, type HubOptions } from "@harnesskit/hub";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { openPostgresStore, type PostgresStore } from "@harnesskit/store-postgres";
import type { TimelineStore } from "@harnesskit/timeline";
import { expect, it, onTestFinished, vi } from "vitest";
import type {} from "../../../../scripts/lib/postgres-setup.ts";

/** A PostgreSQL server of this test alone, which is stopped and started. */
const startPostgres = async () => {
  const program = new URL("../../../../scripts/lib/postgres-supervisor.mjs", import.meta.url);
  const child = spawn(process.execPath, [fileURLToPath(program)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as { readonly url: string };
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.stdin.end();
    await exited;
  });
  const { url } = await next();
  const say = async (word: "stop" | "start") => {
    child.stdin.write(`${word}\n`);
    await next();
  };
  return { url, stop: () => say("stop"), start: () => say("start") };
};

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
  await server.stop();
  for (let count = 1; count <= 20; count++) expect(await act(`away-${count}`)).toBe("allow");
  expect(await agent.flush()).toBe(true);
  await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0), { timeout: 20_000 });
  await server.start();
  await vi.waitFor(async () => expect(await rows()).toHaveLength(21), { timeout: 20_000, interval: 100 });
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(["done"]));
  const decided = entries.filter(({ details }) => details?.decision === "allow");
  expect(decided.map(({ details }) => details?.call_id)).toContain("away-20");
  expect(decided).toHaveLength(21);
});
