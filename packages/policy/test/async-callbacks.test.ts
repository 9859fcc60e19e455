import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { strays } from "../../../scripts/lib/strays.ts";
import { createPolicyHarness, type Policy } from "../src/index.ts";
import { loadPolicy, watchPolicy } from "../src/node/index.ts";
import { policyOf, toolEvent } from "./support/policies.ts";

const broken = new TypeError("the log service is down");

describe("a callback that returns a promise", () => {
  it("may fail: a policy's onDecision, which onError is told of, and may fail too", async () => {
    const unhandled = strays();
    const told: unknown[] = [];
    const harness = createPolicyHarness({
      policy: policyOf("rules: [{ name: r, then: allow }]"),
      onDecision: async () => {
        throw broken;
      },
      onError: async (error) => {
        told.push(error);
        throw error;
      },
    });
    expect(harness.decide(toolEvent("a")).decision).toMatchObject({ decision: "allow" });
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual([broken]);
  });

  it("may fail: onReload and onError of a policy's file", async () => {
    const unhandled = strays();
    const directory = await mkdtemp(join(tmpdir(), "policy-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, "policy.yaml");
    await writeFile(file, "version: 1\nname: first\nrules: []\n");
    const harness = createPolicyHarness({ policy: await loadPolicy(file) });
    const told: unknown[] = [];
    const failing = (what: (value: never) => unknown) => async (value: unknown) => {
      told.push(what(value as never));
      throw broken;
    };
    const watch = watchPolicy(harness, file, {
      settleMs: 1_000_000,
      pollMs: 0,
      onReload: failing(({ name }: Policy) => name),
      onError: failing(({ code }: { code: string }) => code),
    });
    onTestFinished(() => watch.close());
    await writeFile(file, "version: 1\nname: second\nrules: []\n");
    await watch.reload();
    await writeFile(file, "version: 1\nrules: [{ name: r }]\n");
    await watch.reload();
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual(["second", "policy_invalid"]);
  });
});
