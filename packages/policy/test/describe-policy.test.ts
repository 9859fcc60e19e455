import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describePolicy, PolicyError } from "../src/index.ts";
import { loadPolicy, savePolicy } from "../src/node/index.ts";
import { policyOf } from "./support/policies.ts";

it("describes each limit, rule and default in words, with the decision and the mode", () => {
  const policy = policyOf(`
lists: { readers: [read, glob] }
defaults: { gate: escalate, pre_prompt: allow }
limits:
  - { name: calm, when: { tool: fetch }, per: [session], rate: { max: 2, window_ms: 60000 }, concurrent: { max: 1 } }
rules:
  - { name: reads, when: { tool: "@readers" }, then: allow }
  - name: force
    description: Pushing by force loses work.
    mode: shadow
    when: { action: run, tool: [bash, "!bash_safe"], agent: "night-*", cel: [depth < 3, "true"] }
    then: { decision: block, reason: "would run \${args.command}" }
  - { name: rest, then: block }
`);
  expect(describePolicy(policy)).toEqual([
    {
      ...{ kind: "rule", name: "reads", cel: [], decision: "allow", mode: "enforce" },
      when: "an action with the tool one of the list readers",
    },
    {
      ...{ kind: "rule", name: "force", description: "Pushing by force loses work.", mode: "shadow" },
      when: "an action that runs a command with the tool bash except bash_safe of the agent night-*",
      ...{ cel: ["depth < 3", "true"], decision: "block", reason: `would run \${args.command}` },
    },
    {
      ...{ kind: "rule", name: "rest", cel: [], decision: "block", mode: "enforce" },
      when: "an action, or a request to the model",
    },
    {
      ...{ kind: "limit", name: "calm", cel: [], decision: "defer", mode: "enforce" },
      when: "an action with the tool fetch, more than 2 in 60 s or more than 1 at a time, for each session",
    },
    {
      ...{ kind: "default", name: "default", cel: [], decision: "escalate", mode: "enforce" },
      when: "where no rule decides; pre_prompt: allow",
    },
  ]);
});

it("saves another text whole, keeps the file's mode, and overwrites no change of another writer", async () => {
  const dir = await mkdtemp(join(tmpdir(), "policy-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, "policy.yaml");
  const was = "version: 1\nrules: []\n";
  const text = "version: 1\nrules: [{ name: r, then: allow }]\n";
  await writeFile(file, was);
  await chmod(file, 0o640);
  const policy = await loadPolicy(file);
  await savePolicy(policy, { text, was });
  expect(await readFile(file, "utf8")).toBe(text);
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  for (const [asked, code] of [
    [{ text: was, was }, "policy_changed"],
    [{ text: "rules: 7", was: text }, "policy_invalid"],
  ] as const) {
    const refused: unknown = await savePolicy(policy, asked).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PolicyError);
    expect(refused).toMatchObject({ code });
  }
  expect(await readFile(file, "utf8")).toBe(text);
});
