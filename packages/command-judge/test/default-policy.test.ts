import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  checkPolicy,
  eventOfCase,
  type Policy,
  PolicyCaseSchema,
  parsePolicy,
  parsePolicyCases,
  secretFunctions,
} from "@harnesskit/policy";
import {
  casesFileOf,
  defaultPolicyFile,
  loadBuiltPolicy,
  loadPolicy,
  testPolicyFile,
} from "@harnesskit/policy/node";
import { beforeAll, describe, expect, it } from "vitest";
import { commandJudge } from "../src/index.ts";
import { readCorpus } from "./corpus.ts";

const token = `ghp_${"aB3".repeat(12)}`;
const metadata = { workspace: "/work/app" };
const home = "/home/dev";

const eventOf = (event: string, payload: unknown, more: object = {}) =>
  eventOfCase(PolicyCaseSchema.parse({ name: "event", expect: {}, event, payload, ...more }));

const toolEvent = (tool_name: string, args: object, more: object) =>
  eventOf("pre_action", { tool_name, arguments: args }, more);

let policy: Policy;
let enforced: Policy;

beforeAll(async () => {
  const text = await readFile(defaultPolicyFile, "utf8");
  const functions = [...commandJudge({ home }).functions, ...secretFunctions];
  policy = parsePolicy(text, { functions });
  enforced = parsePolicy(text.replaceAll("    mode: shadow\n", ""), { functions });
});

const decide = (tool: string, args: Record<string, unknown>, by = policy, more: object = metadata) => {
  const { decision, rule } = checkPolicy(by, toolEvent(tool, args, { metadata: more as typeof metadata }));
  return [decision?.decision, rule];
};

describe("the shipped policy", () => {
  it("passes its own cases, which try every rule", async () => {
    const { failed, passed, coverage, results } = await testPolicyFile(
      defaultPolicyFile,
      commandJudge({ home }),
    );
    expect(results.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual(
      [],
    );
    expect(failed).toBe(0);
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(coverage.uncovered).toEqual([]);
  });

  it("decides every case, and every type of event, as it was built just as it does when it is read", async () => {
    const options = { ...commandJudge({ home }), workspace: "/work/app" };
    const [read, built] = await Promise.all([
      loadPolicy(defaultPolicyFile, options),
      loadBuiltPolicy(options),
    ]);
    if (!built) throw new TypeError("the policy has changed since it was built: npm run build");
    const cases = parsePolicyCases(await readFile(casesFileOf(defaultPolicyFile), "utf8"));
    const events = [
      ...cases.map(eventOfCase),
      ...read.decides.map((type) => eventOf(type, { tool_name: "bash", arguments: { command: "ls" } })),
      eventOf("pre_prompt", { prompt: `use ${token}` }),
      eventOf("post_action", { tool_name: "read", result: token }),
    ];
    for (const event of events) expect(checkPolicy(built, event)).toEqual(checkPolicy(read, event));
    expect({ ...built }).toEqual({ ...read });
  });

  it("guards the files that it was built from", async () => {
    const built = await loadBuiltPolicy({
      ...commandJudge({ home }),
      workspace: dirname(dirname(defaultPolicyFile)),
    });
    for (const path of ["policies/coding-agent.yaml", "dist/coding-agent.json"]) {
      const write = eventOf("pre_action", { tool_name: "write", arguments: { path, content: "" } });
      expect(built && checkPolicy(built, write)).toMatchObject({ decision: { decision: "escalate" } });
    }
  });

  it("blocks the worst commands of the corpus and asks about all the others", () => {
    const blocked: ReadonlySet<string> = new Set(["destructive", "privilege", "exfiltration"]);
    for (const { run, is } of readCorpus()) {
      expect([run, decide("bash", { command: run })[0]]).toEqual([
        run,
        blocked.has(is) ? "block" : "escalate",
      ]);
    }
  });

  it("asks before a tool reads a secret, a copy of one by its name, or the credentials of git", () => {
    for (const path of [".env", "#.env#", "a/.#.env", ".env.swp", ".env~", ".env.bak", ".git/config"])
      expect([path, decide("read", { path })[0]]).toEqual([path, "escalate"]);
    for (const path of [".env.example", "#notes#", ".git/HEAD", "src/a.ts~"])
      expect([path, decide("read", { path })[0]]).toEqual([path, "allow"]);
  });

  it.each([
    ["read", { path: "/etc/hosts" }, "files-outside"],
    ["read", { path: "src/../../x" }, "files-outside"],
    ["read", { path: "~/notes" }, "files-outside"],
    ["read", { path: "~/.ssh/id_rsa" }, "secret-files"],
    ["read", { path: "/proc/self/environ" }, "secret-files"],
    ["read", { path: "/proc/1/cwd/etc/hosts" }, "files-outside"],
    ["read", { path: "/proc/9/task/9/cwd/x" }, "files-outside"],
    ["read", { path: ".env~" }, "secret-files"],
    ["read", { path: ".env-prod" }, "secret-files"],
    ["read", { path: "config/prod.env" }, "secret-files"],
    ["read", { path: "id_rsa.bak" }, "secret-files"],
    ["read", { path: "server.pem.old" }, "secret-files"],
    ["read", { path: "terraform.tfstate.backup" }, "secret-files"],
    ["read", { path: "infra/prod.tfvars" }, "secret-files"],
    ["read", { path: "auth.json" }, "secret-files"],
    ["read", { path: "dev.kubeconfig" }, "secret-files"],
    ["read", { path: "/work/application/x" }, "files-outside"],
    ["read", { path: "C:\\Users\\me" }, "unclear-paths"],
    ["read", { path: "src\\..\\..\\x" }, "unclear-paths"],
    ["read", { path: 7 }, "unclear-paths"],
    ["read", { path: "" }, "unclear-paths"],
    ["read", { path: "x\0y" }, "unclear-paths"],
    ["glob", { pattern: "../**" }, "files-outside"],
    ["glob", { pattern: "/etc/*.d/*" }, "files-outside"],
    ["glob", { pattern: "*", path: "/opt" }, "files-outside"],
    ["glob", { pattern: ".{e,x}nv" }, "secret-files"],
    ["glob", { pattern: "@(..|src)/x" }, "unclear-paths"],
    ["glob", { pattern: ["*"] }, "unclear-paths"],
    ["grep", { pattern: "a", path: ".." }, "files-outside"],
    ["grep", { pattern: "a", include: ".env*" }, "secret-files"],
    ["write", { path: "../x", content: "" }, "files-outside"],
    ["write", { path: ".env", content: "" }, "secret-files"],
    ["edit", { path: "/etc/hosts", oldText: "a", newText: "b" }, "files-outside"],
  ])("asks about %s %j", (tool, args, rule) => {
    expect(decide(tool, args)).toEqual(["escalate", rule]);
  });

  it("takes nothing for inside where no workspace is known", () => {
    for (const none of [{}, { workspace: "" }, { workspace: "work" }]) {
      expect(decide("read", { path: "x" }, policy, none)[0]).toBe("escalate");
      expect(decide("read", { path: "/x" }, policy, none)).toEqual(["escalate", "files-outside"]);
      expect(decide("bash", { command: "ls" }, enforced, none)[0]).toBe("escalate");
    }
  });

  it("never passes an action that is misshapen or of a tool that it does not know", () => {
    const payloads = [
      null,
      "bash",
      [],
      {},
      { tool_name: "Bash" },
      { tool_name: "bash", arguments: "rm -rf /" },
    ];
    for (const payload of payloads) {
      expect(checkPolicy(policy, eventOf("pre_action", payload, { metadata })).decision?.decision).toBe(
        "escalate",
      );
    }
  });

  it("believes a tool's name only of the agents that it knows", () => {
    const by = (tool_id: unknown) => decide("read", { path: "a" }, policy, { ...metadata, tool_id });
    expect(by("harnesskit.workspace/read")).toEqual(["allow", "reads"]);
    for (const other of [
      "other/read",
      "harnesskit.workspace/write",
      "read",
      "",
      7,
      null,
      ["harnesskit.workspace/read"],
    ]) {
      expect([other, ...by(other)]).toEqual([other, "escalate", "foreign-tools"]);
    }
    const destructive = toolEvent(
      "bash",
      { command: "rm -rf x" },
      { metadata: { ...metadata, tool_id: "other/bash" } },
    );
    expect(checkPolicy(policy, destructive).decision?.decision).toBe("block");
  });

  it("flags secrets in prompts and outputs, and takes them out where its rule is enforced", () => {
    const prompt = (text: string) =>
      eventOf("pre_prompt", { messages: [{ role: "user", content: [{ type: "text", text }] }] });
    const told = checkPolicy(policy, prompt(`use ${token}`));
    expect(told.decision?.decision).toBe("allow");
    expect(told.shadowed).toMatchObject([{ rule: "secrets-in-prompts", decision: "modify" }]);
    expect(checkPolicy(enforced, prompt(`use ${token}; token: string`)).decision).toMatchObject({
      decision: "modify",
      modified_payload: {
        messages: [{ role: "user", content: [{ type: "text", text: "use [redacted]; token: string" }] }],
      },
    });
    expect(checkPolicy(enforced, prompt("const token: string = next()")).decision?.decision).toBe("allow");
    const output = eventOf("post_action", { tool_name: "bash", output: { stdout: token } });
    expect(checkPolicy(policy, output)).toMatchObject({
      rule: "secrets-in-outputs",
      decision: { metadata: { flag: "secrets", kinds: ["token"] } },
    });
    expect(checkPolicy(policy, eventOf("post_response", { text: "done" })).rule).toBeUndefined();
  });

  it("names nothing of a secret in its reasons", () => {
    const { decision } = checkPolicy(
      policy,
      toolEvent("bash", { command: `deploy --key ${token}` }, { metadata }),
    );
    expect(decision?.decision).toBe("escalate");
    expect(JSON.stringify(decision)).not.toContain(token);
  });
});

describe("the functions for coding agents", () => {
  it("are there for every policy that is loaded, and know its lists", async () => {
    const loaded = await loadPolicy(defaultPolicyFile, {
      functions: [
        ...commandJudge().functions,
        { signature: "twice(string): string", call: ([text]) => `${text}${text}` },
      ],
    });
    expect(loaded.rules).toEqual(policy.rules);
    const own = parsePolicy(
      `version: 1
lists: { read_programs: [looker], write_programs: [maker], secret_paths: ["*/vault/*"], allowed_paths: [/tmp] }
rules:
  - { name: verdict, when: { tool: bash }, then: { decision: block, reason: "\${command(args).verdict} \${command(args).outside}" } }
  - { name: path, when: { tool: read }, then: { decision: block, reason: "\${files(args).secret} \${files(args).outside}" } }
`,
      { functions: [...commandJudge().functions, ...secretFunctions] },
    );
    const reasonOf = (tool: string, args: Record<string, unknown>): unknown =>
      (checkPolicy(own, toolEvent(tool, args, { metadata })).decision as { reason?: string }).reason;
    expect(reasonOf("bash", { command: "looker /tmp/a" })).toBe("read false (rule verdict)");
    expect(reasonOf("bash", { command: "maker a" })).toBe("write false (rule verdict)");
    expect(reasonOf("bash", { command: "other a" })).toBe("unknown false (rule verdict)");
    expect(reasonOf("read", { path: "vault/a" })).toBe("true false (rule path)");
    expect(reasonOf("read", { path: "/tmp/a" })).toBe("false false (rule path)");
  });

  it("give JSON that a modified payload can hold, secrets under telling names included", () => {
    const made = parsePolicy(
      `version: 1\nrules: [{ name: r, then: { decision: modify, modified_payload: "\${redact(payload)}" } }]\n`,
      { functions: [...commandJudge().functions, ...secretFunctions] },
    );
    const payload = {
      api_key: "q8Zt91Lw0Vb4Kc7Yd2",
      token_count: 7,
      token: "string",
      list: [null, true, token],
    };
    expect(checkPolicy(made, eventOf("pre_action", payload)).decision).toMatchObject({
      modified_payload: {
        api_key: "[redacted]",
        token_count: 7,
        token: "string",
        list: [null, true, "[redacted]"],
      },
    });
  });
});
