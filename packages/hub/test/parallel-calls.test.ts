import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { call, openHub } from "./support/open-hub.ts";

/** A hub, an agent and the questions that wait, once there are so many. */
const opened = async (hub: Awaited<ReturnType<typeof openHub>>) => {
  const [agent, client] = [await hub.agent("codex"), await hub.client()];
  const pending = async () => (await client.call("inbox.list", { status: "pending" })).records;
  const wait = async (count: number) => {
    await until(async () => (await pending()).length === count);
    return pending();
  };
  const rows = async () => (await client.call("timeline.page")).rows;
  return { agent, client, wait, rows };
};

describe("two identical calls at one time", () => {
  it.each([
    ["with ids", ["c1", "c2"]],
    ["without ids", [undefined, undefined]],
  ])("have a question and a row each, and each gets its own answer: %s", async (_, [first, second]) => {
    await using hub = await openHub();
    const { agent, client, wait, rows } = await opened(hub);
    const decisions = [
      agent.decide("pre_action", call("make", first)),
      agent.decide("pre_action", call("make", second)),
    ];
    const [one, other] = await wait(2);
    await client.call("inbox.answer", { id: one?.id ?? "", digest: one?.digest ?? "", decision: "approve" });
    await client.call("inbox.answer", {
      id: other?.id ?? "",
      digest: other?.digest ?? "",
      decision: "reject",
    });
    const words = (await Promise.all(decisions)).map(({ decision }) => decision.decision);
    expect(words.toSorted()).toEqual(["allow", "block"]);
    await until(async () => (await rows()).length === 2);
    expect((await rows()).map(({ state }) => state).toSorted()).toEqual(["refused", "running"]);
    expect(hub.errors).toEqual([]);
  });

  it("are one question where the second repeats the first, which does not wait any more", async () => {
    await using hub = await openHub();
    const { agent, client, wait } = await opened(hub);
    const metadata = { wait_ms: 0 };
    await agent.decide("pre_action", call("make", "c1"), { metadata });
    const again = agent.decide("pre_action", call("make", "c2"));
    const [record] = await wait(1);
    await client.call("inbox.answer", {
      id: record?.id ?? "",
      digest: record?.digest ?? "",
      decision: "approve",
    });
    expect((await again).decision).toMatchObject({ decision: "allow" });
  });
});

describe("an approved call", () => {
  it("need not be asked about again by the agent's own host, and ends as failed where it failed", async () => {
    await using hub = await openHub();
    const { agent, client, wait, rows } = await opened(hub);
    const decided = agent.decide("pre_action", call("make", "c1"));
    const [record] = await wait(1);
    const id = record?.id ?? "";
    await client.call("inbox.answer", { id, digest: record?.digest ?? "", decision: "approve" });
    expect((await decided).decision).toMatchObject({
      decision: "allow",
      metadata: { skip_host_prompt: true },
    });
    agent.notify("post_action", { ...call("make", "c1"), failed: true, error: "Exit code 2\nno rule" });
    await until(async () => (await client.call("inbox.get", { id })).record.effect === "failed");
    expect(await rows()).toMatchObject([{ state: "failed", outcome: "Exit code 2" }]);
  });

  it("of a policy leaves the host's own prompts as they are", async () => {
    await using hub = await openHub();
    const { agent } = await opened(hub);
    const { decision } = await agent.decide("pre_action", call("ls", "c1", "read"));
    expect(decision).toMatchObject({ decision: "allow" });
    expect(decision).not.toHaveProperty("metadata.skip_host_prompt");
  });
});

it("tools of a hooked agent that no table has are counted", async () => {
  await using hub = await openHub();
  const { agent, client } = await opened(hub);
  for (const [tool, isUnknown] of [
    ["js_repl", true],
    ["js_repl", true],
    ["Bash", false],
  ] as const) {
    const metadata = { hook_event: "PreToolUse", host_tool: tool, ...(isUnknown && { unknown_tool: true }) };
    await agent.decide("pre_action", call("ls", undefined, "read"), { metadata });
  }
  const { agents } = await client.call("agents.list");
  expect(agents).toMatchObject([{ agent: "codex", unknownTools: [{ tool: "js_repl", calls: 2 }] }]);
});
