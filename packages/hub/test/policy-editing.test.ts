import { PolicyError, parsePolicyLike } from "@harnesskit/policy";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { HubError } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

const codeOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HubError);
  return (error as HubError).code;
};

it("says what each rule means, and what a draft of the policy decides on the event of a row", async () => {
  await using hub = await openHub();
  const [agent, client] = [await hub.agent("codex"), await hub.client()];
  await agent.decide("pre_action", call("rm -rf build"));
  const { policy } = await client.call("policy.get");
  expect(policy.canSave).toBe(false);
  expect(policy.rules.find(({ name }) => name === "removes")).toMatchObject({
    hits: 1,
    text: {
      when: "an action with the tool bash",
      cel: ['args.command.startsWith("rm")'],
      decision: "block",
      reason: "it removes files",
      mode: "enforce",
    },
  });
  const [row] = (await client.call("timeline.page")).rows;
  const draft = policy.text.replace("- name: removes", "- { name: all, then: allow }\n  - name: removes");
  const checked = await client.call("policy.check", { text: draft, rowId: row?.id });
  expect(checked).toMatchObject({
    problems: [],
    judged: { decision: "allow", rule: "all", source: "rule", isCut: false },
  });
  expect(checked.rules.map(({ name }) => name)).toEqual(["reads", "all", "removes", "commands", "default"]);
  const broken = await client.call("policy.check", { text: "version: 1\nrules: 7" });
  expect(broken.problems).toEqual([expect.objectContaining({ line: 2 })]);
  expect(await codeOf(client.call("policy.check", { text: draft, rowId: 99 }))).toBe("row_not_found");
  // Nothing was changed by it.
  expect((await agent.decide("pre_action", call("rm -rf build"))).decision.decision).toBe("block");
});

it("saves a policy where it was started with a file, and records what was saved and what was refused", async () => {
  const saved: string[] = [];
  const text = "version: 1\nname: next\nrules: [{ name: all, then: allow }]\n";
  await using hub = await openHub({
    savePolicy: async (change) => {
      if (change.was !== hub.policy.policy.text) {
        const problem = { message: "it was changed", path: "", line: 1, column: 1 };
        throw new PolicyError("policy_changed", "policy.yaml", [problem]);
      }
      hub.policy.replace(parsePolicyLike(hub.policy.policy, change.text));
      saved.push(change.text);
    },
  });
  const client = await hub.client();
  const { policy } = await client.call("policy.get");
  expect(policy.canSave).toBe(true);
  expect(await codeOf(client.call("policy.save", { text, was: "another" }))).toBe("policy_changed");
  expect(await codeOf(client.call("policy.save", { text: "rules: 7", was: policy.text }))).toBe(
    "invalid_policy",
  );
  expect((await client.call("policy.save", { text, was: policy.text })).policy).toMatchObject({
    name: "next",
    text,
  });
  expect(saved).toEqual([text]);
  expect(hub.entries.filter(({ action }) => action === "hub.policy.save")).toMatchObject([
    { outcome: "refused", details: { reason: "policy_changed", by: "ada (terminal)" } },
    { outcome: "refused" },
    { outcome: "ok", details: { by: "ada (terminal)" } },
  ]);
});

it("refuses to save where it may not write", async () => {
  await using hub = await openHub();
  const client = await hub.client();
  const { policy } = await client.call("policy.get");
  expect(await codeOf(client.call("policy.save", { text: policy.text, was: policy.text }))).toBe(
    "policy_read_only",
  );
});

it("reports how far a backtest of many events has come, and stops it with its call", async () => {
  const timeline = createMemoryTimelineStore();
  await using hub = await openHub({ timeline });
  const agent = await hub.agent("codex");
  const client = await hub.client();
  await agent.decide("pre_action", call("ls", "c1", "read"));
  await until(async () => (await timeline.page()).rows.length === 1);
  const { content, row } = (await timeline.get(1)) ?? { content: {}, row: undefined };
  if (row === undefined) throw new Error("the row was not kept");
  const { id: _id, seq: _seq, changedAtMs: _changed, ...copy } = row;
  for (let written = 0; written < 20_000; written += 1000)
    await timeline.write(Array.from({ length: 1000 }, () => ({ type: "add" as const, row: copy, content })));
  const seen: { events: number; share: number }[] = [];
  const result = await client.backtest({}, { onProgress: (progress) => seen.push(progress) });
  expect(result).toMatchObject({ decided: 20_001, same: 20_001, isPartial: false });
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.map(({ share }) => share)).toEqual([...seen.map(({ share }) => share)].sort((a, b) => a - b));
  const stop = new AbortController();
  const stopped = client.backtest({}, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(stopped).rejects.toMatchObject({ code: "request_cancelled" });
});
