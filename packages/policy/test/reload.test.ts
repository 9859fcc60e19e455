import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FileAction } from "../src/decide/changes-files.ts";
import { createPolicyHarness, type Policy, PolicyError } from "../src/index.ts";
import { loadPolicy, type PolicyWatch, testPolicyFile, watchPolicy } from "../src/node/index.ts";
import { toolEvent } from "./support/policies.ts";
import { startServer } from "./support/server.ts";

let dir: string;
let file: string;
const watches: PolicyWatch[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "policy-"));
  file = join(dir, "policy.yaml");
});
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close();
  await rm(dir, { recursive: true });
});

const textOf = (name: string, then: string): string =>
  `version: 1\nname: ${name}\nlimits: [{ name: l, rate: { max: 3, window_ms: 60000 } }]\nrules: [{ name: r, then: ${then} }]\n`;

/** As a careful editor does: what is read is the old or the new. */
const put = async (text: string): Promise<void> => {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
};

const codeOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  return PolicyError.isInstance(error) ? error.code : error;
};

describe("a file", () => {
  it("is read with its place in the errors, and its workspace is the working directory", async () => {
    await put('version: 1\nrules: [{ name: r, when: { cel: "workspace == args.cwd" }, then: allow }]\n');
    const harness = createPolicyHarness({ policy: await loadPolicy(file) });
    expect(harness.decide(toolEvent("a", { cwd: process.cwd() })).rule).toBe("r");
    await put("version: 1\nrules: [{ name: r }]\n");
    await expect(loadPolicy(file)).rejects.toMatchObject({ code: "policy_invalid", file });
  });

  it("is not changed by what it lets pass, without a question", async () => {
    await put("version: 1\nrules: [{ name: r, then: allow }]\n");
    const harness = createPolicyHarness({ policy: await loadPolicy(file) });
    const decide = (tool: string, args: Record<string, unknown>) => {
      const { decision, source } = harness.decide(toolEvent(tool, args, { metadata: { workspace: dir } }));
      return [decision?.decision, source];
    };
    for (const [tool, args] of [
      ["write", { path: "policy.yaml", content: "" }],
      ["edit", { path: "./x/../POLICY.yaml" }],
      ["edit", { path: file }],
      ["write", { path: "." }],
      ["write", { path: "*.yaml" }],
      ["write", { path: 7 }],
      // Without a judge of commands, any command may.
      ["bash", { command: "cat policy.yaml" }],
    ] as const)
      expect([tool, args, ...decide(tool, args)]).toEqual([tool, args, "escalate", "guard"]);
    for (const [tool, args] of [
      ["write", { path: "policy.yaml.md", content: "" }],
      ["glob", { pattern: "*" }],
    ] as const)
      expect([tool, args, ...decide(tool, args)]).toEqual([tool, args, "allow", "rule"]);
    expect(harness.decide(toolEvent("write", { path: file })).decision).toMatchObject({
      decision: "escalate",
      reason: "it would change the policy itself",
    });
  });

  it("asks the function that it is given whether an action would change it", async () => {
    await put("version: 1\nrules: [{ name: r, then: allow }]\n");
    const asked: unknown[] = [];
    const changesFiles = (action: FileAction, files: readonly string[]): boolean => {
      asked.push([action, files.includes(file)]);
      if (action.tool === "broken") throw new Error("no answer");
      return action.tool === "shell";
    };
    const harness = createPolicyHarness({ policy: await loadPolicy(file, { changesFiles }) });
    const decide = (tool: string) =>
      harness.decide(toolEvent(tool, { x: 1 }, { metadata: { workspace: dir } })).decision?.decision;
    expect([decide("shell"), decide("other"), decide("broken")]).toEqual(["escalate", "allow", "escalate"]);
    expect(asked[0]).toEqual([{ tool: "shell", args: { x: 1 }, workspace: dir }, true]);
  });

  it("that is not there, no file, too long or no UTF-8 is refused", async () => {
    expect(await codeOf(loadPolicy(file))).toBe("policy_unreadable");
    expect(await codeOf(loadPolicy(dir))).toBe("policy_unreadable");
    await writeFile(file, Buffer.alloc(4_000_000, 35));
    expect(await codeOf(loadPolicy(file))).toBe("policy_too_large");
    await writeFile(file, Buffer.from([0x61, 0xff, 0xfe]));
    expect(await codeOf(loadPolicy(file))).toBe("policy_syntax");
    expect(await codeOf(loadPolicy("/dev/zero"))).toBe("policy_unreadable");
  });

  it("is tested by the cases beside it", async () => {
    await put(textOf("first", "allow"));
    await writeFile(join(dir, "policy.test.yaml"), "cases: [{ name: c, tool: a, expect: { rule: r } }]\n");
    expect(await testPolicyFile(file)).toMatchObject({
      passed: 1,
      failed: 0,
      coverage: { uncovered: ["l"] },
    });
    await rm(join(dir, "policy.test.yaml"));
    expect(await codeOf(testPolicyFile(file))).toBe("policy_unreadable");
  });
});

describe("a watched file", () => {
  const start = async (options: { pollMs?: number } = {}) => {
    await put(textOf("first", "allow"));
    const harness = createPolicyHarness({ policy: await loadPolicy(file) });
    const seen: (string | undefined)[] = [];
    let wake = (): void => undefined;
    const note = (what: string | undefined): void => {
      seen.push(what);
      wake();
    };
    const watch = watchPolicy(harness, file, {
      settleMs: 1,
      pollMs: 0,
      ...options,
      onReload: (policy: Policy) => note(policy.name),
      onError: (error) =>
        note(PolicyError.isInstance(error) ? `${error.code}:${error.problems[0]?.line}` : "?"),
    });
    watches.push(watch);
    const until = async (what: string): Promise<void> => {
      while (!seen.includes(what)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    return { harness, watch, seen, until };
  };
  const word = (harness: Awaited<ReturnType<typeof start>>["harness"]) =>
    harness.decide(toolEvent("a")).decision?.decision;

  it("is put in force when it changes, and stays in force when it is broken or gone", async () => {
    const { harness, until, seen } = await start();
    expect(word(harness)).toBe("allow");
    await put(textOf("second", "block"));
    await until("second");
    expect(word(harness)).toBe("block");
    await put("version: 1\nrules:\n  - { name: r, then: perhaps }\n");
    await until("policy_invalid:3");
    expect([harness.policy.name, word(harness)]).toEqual(["second", "block"]);
    await rm(file);
    await until("policy_unreadable:1");
    expect(word(harness)).toBe("block");
    await put(textOf("third", "escalate"));
    await until("third");
    expect(word(harness)).toBe("escalate");
    expect(harness.stats()).toMatchObject({ reloads: 2, refusedReloads: 2 });
    expect(seen).toEqual(["second", "policy_invalid:3", "policy_unreadable:1", "third"]);
  });

  it("is found changed by looking, where nobody tells", async () => {
    const { harness, until } = await start({ pollMs: 5 });
    await put(textOf("second", "block"));
    await until("second");
    expect(word(harness)).toBe("block");
  });

  it("keeps what limits of the same name have counted", async () => {
    const { harness, watch } = await start();
    expect([word(harness), word(harness)]).toEqual(["allow", "allow"]);
    await put(textOf("second", "allow"));
    await watch.reload();
    expect(harness.policy.name).toBe("second");
    expect([word(harness), word(harness)]).toEqual(["allow", "defer"]);
  });

  it("ends at what was written last, whatever comes at once, and drops no call", async () => {
    const { harness, watch } = await start();
    const { server, ask } = await startServer(harness.handlers, { capabilities: harness.capabilities });
    const event = {
      ...toolEvent("a"),
      session_id: "sess-abc",
      agent_id: "agent-xyz",
      event_type: "pre_prompt",
    };
    const calls: Promise<{ result?: { decision?: string } }>[] = [];
    const reloads: Promise<void>[] = [];
    for (let turn = 0; turn < 30; turn++) {
      await put(turn % 3 === 2 ? "broken: [" : textOf(`n${turn}`, turn % 2 === 0 ? "allow" : "block"));
      reloads.push(watch.reload());
      for (let call = 0; call < 10; call++) calls.push(ask("ahp/event", event));
    }
    await put(textOf("last", "block"));
    await Promise.all([...reloads, watch.reload()]);
    expect(harness.policy.name).toBe("last");
    const answers = await Promise.all(calls);
    expect(answers).toHaveLength(300);
    for (const { result } of answers) expect(["allow", "block"]).toContain(result?.decision);
    expect((await ask("ahp/event", event)).result.decision).toBe("block");
    await server.close();
  });

  it("that is closed changes nothing any more", async () => {
    const { harness, watch } = await start();
    await put(textOf("second", "block"));
    const reading = watch.reload();
    void watch.close();
    await reading;
    await watch.reload();
    expect(harness.policy.name).toBe("first");
  });
});
