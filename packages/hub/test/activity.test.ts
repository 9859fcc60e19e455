import { createMemoryTimelineStore, type NewRow } from "@harnesskit/timeline";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import type { HubClient } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

const usage = { input_tokens: 1000, output_tokens: 20, cache_read_tokens: 800, model: "claude-opus-4-5" };

const answered = async (client: HubClient, count: number) => {
  const read = async () =>
    (await client.call("timeline.page", { filter: {} })).rows.filter(({ usage: has }) => has);
  await until(async () => (await read()).length === count);
};

describe("activity", () => {
  it("counts actions, failures, questions, tokens and cost by agent, session, turn and day", async () => {
    await using hub = await openHub({
      costOf: ({ model, inputTokens = 0 }) => (model === "claude-opus-4-5" ? inputTokens / 1000 : undefined),
    });
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    await agent.decide("pre_action", call("ls", "c1", "read"));
    agent.notify("post_action", { ...call("ls", "c1", "read"), outcome: "error", error: "ENOENT" });
    await agent.decide("pre_action", call("rm -rf build", "c2"));
    const metadata = { turn_id: "t1" };
    agent.notify("post_response", { outcome: "success", usage } as never, { metadata });
    agent.notify(
      "post_response",
      { outcome: "success", usage: { output_tokens: 5 }, model: "local" } as never,
      {
        metadata,
      },
    );
    // What is no number of tokens is unknown.
    agent.notify("post_response", { outcome: "success", usage: { input_tokens: -1 } } as never, { metadata });
    await answered(client, 2);
    await until(async () => (await client.call("activity.list", { by: ["agent"] })).groups[0]?.failed === 1);
    const { groups, isPartial } = await client.call("activity.list", { by: ["agent"] });
    expect(isPartial).toBe(false);
    expect(groups).toEqual([
      expect.objectContaining({
        ...{ agent: "codex", actions: 2, failed: 1, refused: 1, asked: 0, reports: 2, unpriced: 1, cost: 1 },
        usage: { inputTokens: 1000, outputTokens: 25, cacheReadTokens: 800 },
      }),
    ]);
    const turns = (
      await client.call("activity.list", { by: ["session", "turn"], filter: { agent: "codex" } })
    ).groups;
    expect(turns.find(({ turn }) => turn === "t1")).toMatchObject({ session: "s1", actions: 0, reports: 2 });
    const day = (await client.call("activity.list", { by: ["day"], utcOffsetMinutes: 60 })).groups;
    expect(day).toHaveLength(1);
    expect(((day[0]?.startMs ?? 0) + 3_600_000) % 86_400_000).toBe(0);
    expect(
      (await client.call("activity.list", { by: ["agent"], filter: { agent: "other" } })).groups,
    ).toEqual([]);
  });

  it("keeps the tokens of a run's last snapshot, and has a subagent under its parent", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const run = { run_id: "r1", session_id: "s1" };
    agent.notify("run_lifecycle", { ...run, status: "executing", updated_at: "2026-05-01T00:00:00Z" });
    const ended = { ...run, status: "completed", updated_at: "2026-05-01T00:00:01Z" } as const;
    agent.notify("run_lifecycle", { ...ended, metadata: { usage } });
    await agent.decide("pre_action", call("ls", "c1", "read"), { metadata: { subagent: "explorer 1" } });
    await answered(client, 1);
    const { groups } = await client.call("activity.list", { by: ["agent", "subagent"] });
    expect(
      groups.map(({ subagent, actions, reports, unpriced }) => ({ subagent, actions, reports, unpriced })),
    ).toEqual(
      expect.arrayContaining([
        { subagent: "explorer 1", actions: 1, reports: 0, unpriced: 0 },
        { subagent: undefined, actions: 0, reports: 1, unpriced: 1 },
      ]),
    );
  });

  it("counts the newest rows up to its bound, and says that there are older ones", async () => {
    const timeline = createMemoryTimelineStore();
    await using hub = await openHub({ timeline, limits: { maxActivityRows: 400 } });
    const client = await hub.client();
    const row: NewRow = {
      ...{ type: "pre_action", atMs: Date.now(), agent: "a", session: "s", depth: 0 },
      ...{ tool: "read", summary: "read x", state: "done" },
    };
    await timeline.write(Array.from({ length: 1000 }, () => ({ type: "add", row, content: {} })));
    const { groups, isPartial } = await client.call("activity.list", { by: ["agent"] });
    expect(isPartial).toBe(true);
    expect(groups).toMatchObject([{ agent: "a", actions: 400 }]);
  });
});
