import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ToolVerdict } from "../src/gates.ts";
import type { ToolGate } from "../src/index.ts";
import type { RawClient } from "./support/raw-client.ts";
import { copied, ownDirectory, type ServeOptions, serve } from "./support/serve.ts";
import { callingRunner } from "./support/tools.ts";

type Policy = (command: unknown) => ToolVerdict;

const escalates: Policy = () => ({
  verdict: "ask",
  reason: "Deploys need a human.",
  judgement: { by: "v1" },
});
const blocks: Policy = () => ({
  verdict: "block",
  reason: "No deploys on Fridays.",
  code: "policy.blocked",
  judgement: { by: "v2", rule: "fridays" },
});
const rewrites =
  (then: Policy): Policy =>
  (command) =>
    command === "deploy" ? { verdict: "modify", input: { command: "deploy --dry-run" } } : then(command);

/** A server whose policy is `policy.now`, and a turn that waits for the approval of its call. */
const waiting = async (options: ServeOptions = {}) => {
  const policy = { now: escalates };
  const judged: unknown[] = [];
  const ended: unknown[] = [];
  const gate: ToolGate = {
    before: ({ input }) => {
      judged.push(input.command);
      return policy.now(input.command);
    },
    after: ({ input }, { status }) => void ended.push([input.command, status]),
  };
  const served = serve({ input: { command: "deploy" }, gate, ...options });
  const { result } = await served.client.startTurn(await served.client.createThread());
  await served.client.notification("approval.requested");
  return { ...served, policy, judged, ended, end: () => served.client.turnEnd(result.turnId) };
};

/** Answers the n-th question. */
const answer = async (client: RawClient, index: number, decision: "once" | "always" | "reject" = "once") => {
  await client.until(() => client.all("approval.requested").length > index);
  const { requestId, metadata } = client.all("approval.requested")[index];
  expect((await client.answer(requestId, decision)).result).toEqual({ ok: true });
  return { requestId, metadata };
};

describe("a policy that changes while an approval waits", () => {
  it.each(["once", "always"] as const)(
    "blocks a call that a human allows %s, with its reason",
    async (word) => {
      const { client, policy, tool, ended, end } = await waiting();
      policy.now = blocks;
      await answer(client, 0, word);
      await end();
      expect(tool.runs).toEqual([]);
      const [item] = client.items("tool_exec");
      expect(item).toMatchObject({
        status: "blocked",
        code: "policy.blocked",
        error: "No deploys on Fridays.",
        judgement: { decision: "block", by: "v2", rule: "fridays" },
      });
      expect(item).not.toHaveProperty("approvedBy");
      expect(client.items("approval")).toMatchObject([{ decision: word, resolvedBy: "client-1" }]);
      expect(ended).toEqual([["deploy", "blocked"]]);
    },
  );

  it.each<[string, Policy]>([
    ["still asks", escalates],
    ["allows", () => ({ verdict: "allow", judgement: { by: "v1" } })],
  ])("is judged once more, and the call runs once where it %s", async (_name, then) => {
    const { client, policy, tool, judged, ended, end } = await waiting();
    policy.now = then;
    const { requestId } = await answer(client, 0);
    await end();
    expect(judged).toEqual(["deploy", "deploy"]);
    expect(tool.runs).toEqual([{ command: "deploy" }]);
    expect(client.all("approval.requested")).toHaveLength(1);
    expect(client.items("tool_exec")).toMatchObject([{ status: "succeeded", approvedBy: requestId }]);
    expect(ended).toEqual([["deploy", "succeeded"]]);
  });

  it.each<[string, Policy]>([
    ["allows", () => ({ verdict: "allow" })],
    ["asks about", escalates],
  ])("asks again where it changes the call and %s the change", async (_name, then) => {
    const { client, policy, tool, end } = await waiting();
    policy.now = rewrites(then);
    await answer(client, 0, "always");
    const { requestId, metadata } = await answer(client, 1);
    expect(metadata).toMatchObject({ input: { command: "deploy --dry-run" }, reason: expect.any(String) });
    await end();
    expect(tool.runs).toEqual([{ command: "deploy --dry-run" }]);
    expect(client.items("tool_exec")).toMatchObject([
      {
        input: { command: "deploy --dry-run" },
        approvedBy: requestId,
        judgement: { modified: { requested: { command: "deploy" } } },
      },
    ]);
    const shown = client.told.filter(({ data }) => data.type === "tool_exec");
    expect(
      shown.map(({ type, data }) => [type, data.item.data.input.command, data.item.data.status]),
    ).toEqual([
      ["item.started", "deploy", "pending"],
      ["item.updated", "deploy --dry-run", "pending"],
      ["item.updated", "deploy --dry-run", "running"],
      ["item.completed", "deploy --dry-run", "succeeded"],
    ]);
  });

  it("cannot change the call for ever, however often a human allows it", async () => {
    const { client, policy, tool, end } = await waiting({ onError: () => {} });
    let calls = 0;
    // Each answer meets a change, which is asked about.
    policy.now = () =>
      ++calls % 2 === 1 ? { verdict: "modify", input: { command: `deploy ${calls}` } } : { verdict: "ask" };
    for (const index of [0, 1, 2, 3]) await answer(client, index);
    await end();
    expect(tool.runs).toEqual([]);
    expect(client.items("tool_exec")).toMatchObject([
      { status: "blocked", code: "gate_failed", judgement: { decision: "block" } },
    ]);
  });

  it("keeps the question about its change over a restart", async () => {
    const dir = await ownDirectory();
    const first = await waiting({ root: join(dir, "first") });
    first.policy.now = rewrites(escalates);
    await answer(first.client, 0);
    await first.client.until(() => first.client.all("approval.requested").length === 2);
    const { requestId } = first.client.all("approval.requested")[1];
    const root = await copied(join(dir, "first"), join(dir, "left"));
    await first.server.close();
    const gate: ToolGate = { before: () => ({ verdict: "ask" }) };
    const { client, tool } = serve({ root, gate, runner: callingRunner() });
    expect((await client.answer(requestId)).result).toEqual({
      ok: true,
    });
    await client.notification("turn.completed");
    expect(tool.runs).toEqual([{ command: "deploy --dry-run" }]);
    expect(client.items("tool_exec")).toMatchObject([
      {
        status: "succeeded",
        approvedBy: requestId,
        judgement: { modified: { requested: { command: "deploy" } } },
      },
    ]);
  });
});
