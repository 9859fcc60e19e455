// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of scenarios look like those of templates.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { allowAnyone } from "@harnesskit/transport-http";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../test-kit/test-kit.ts";
import {
  judgeExpected,
  loadSuite,
  type RunOptions,
  readExpected,
  runSuite,
  type StartModule,
  type SuiteReport,
  textReport,
} from "../src/index.ts";
import { createTestHarness } from "./targets/ahp-harness.ts";

const requirements = `protocol: small
requirements:
  - { id: S-1, section: one, level: MUST, text: greet gives a name., source: { section: one, words: It gives a name. } }
  - { id: S-2, section: one, level: MUST, text: use takes that name., source: { section: one, words: It takes a name. } }
  - { id: S-3, section: two, level: MUST, text: slow is answered., source: { section: two, words: It is answered. } }
  - { id: S-4, section: two, level: SAFETY, text: count counts. }
  - { id: S-6, section: two, level: SAFETY, needs: S-1, text: greet needs a name. }
  - { id: S-5, section: two, level: MUST, text: last is answered., source: { section: two, words: It is answered. } }
`;
const suite = `format: 1
protocol: small
version: "1"
requirements: [small]
roles: { server: { plays: server, transports: { unix: newline }, core: S-4 } }
`;
const scenarios = {
  names: `scenario: names
title: Names
steps:
  - { call: greet, as: greeting, checks: { S-1: { result: { name: $text } } } }
  - { call: use, params: { name: "\${greeting.result.name}" }, checks: { S-2: { result: $any } } }
`,
  waits: `scenario: waits
title: Waits
steps:
  - { call: first }
  - { call: slow, checks: { S-3: { result: $any } } }
  - { call: slow, checks: { S-3: { result: $any } } }
  - { call: slow }
  - { call: last, checks: { S-5: { result: $any } } }
  - each: [1, 2]
    as: number
    steps:
      - { call: count, params: { number: "\${number}" }, checks: { S-4: { result: "\${number}" } } }
`,
};

type Answer = (method: string, params: { number?: number }) => object | undefined;
const right: Answer = (method, { number }) =>
  method === "count" ? { result: number } : { result: { name: "Ada" } };

/** A server whose answers come from a function; one that is undefined does not come. */
const startServer =
  (answer: Answer): StartModule =>
  async ({ endpoint }) => {
    const server = createServer((socket) => {
      createInterface({ input: socket }).on("line", (line) => {
        const { id, method, params = {} } = JSON.parse(line);
        const content = answer(method, params);
        if (content !== undefined) socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...content })}\n`);
      });
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => server.listen(endpoint.slice(5), resolve));
    return { close: () => new Promise((resolve) => server.close(() => resolve())) };
  };

/** A folder with the small suite and these scenarios, by their names. */
const suiteFolder = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const directory = join(folder.path, "scenarios/small/server");
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(folder.path, "requirements"));
  writeFileSync(join(folder.path, "requirements/small.yaml"), requirements);
  writeFileSync(join(folder.path, "scenarios/small/suite.yaml"), suite);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, `${name}.yaml`), text);
  return folder.path;
};

const outcomesOf = ({ requirements: all }: SuiteReport): Record<string, string> =>
  Object.fromEntries(all.map(({ id, outcome }) => [id, outcome]));

const judge = async (answer: Answer, options: Partial<RunOptions> = {}) => {
  const folder = await suiteFolder(scenarios);
  const target = { kind: "module", start: startServer(answer), name: "small", transport: "unix" } as const;
  const limits = { withinMs: 100, startTimeoutMs: 500, maxUnmetWaits: 2 };
  const loaded = loadSuite("small-server", folder);
  const report = await runSuite({ suite: loaded, target, limits, ...options });
  const outcomes = Object.fromEntries(report.requirements.map(({ id, outcome }) => [id, outcome]));
  return { report, outcomes, folder, loaded };
};

const all = (outcome: string) => ({
  "S-1": outcome,
  "S-2": outcome,
  "S-3": outcome,
  "S-4": outcome,
  "S-5": outcome,
});

describe("a verdict", () => {
  it("is not judged where a step before it prevented the check, and names that step", async () => {
    const { report, outcomes } = await judge((...call) =>
      call[0] === "greet" ? { result: {} } : right(...call),
    );
    expect(outcomes).toMatchObject({ "S-1": "fail", "S-2": "unjudged" });
    expect(report.conforms).toBe(false);
    expect(textReport(report)).toContain("not judged  S-2 (MUST)");
    expect(textReport(report)).toContain("${greeting.result.name} is missing after step 1 call greet");
  });

  it("is about what is behind missed waits too, and a missed wait names --within", async () => {
    const { report, outcomes } = await judge((...call) => (call[0] === "slow" ? undefined : right(...call)));
    expect(outcomes).toEqual({ ...all("pass"), "S-3": "fail" });
    expect(textReport(report)).toContain(
      "the answer to slow did not come within 100 ms (--within gives more)",
    );
    expect(report.scenarios.find(({ name }) => name === "waits")?.problems).toEqual([
      "4 call slow: the answer to slow did not come within 100 ms (--within gives more)",
    ]);
  });

  it("says what was sent, expected and received, who says so, and how to run it alone", async () => {
    const wrong: Answer = (method, params) =>
      params.number === 2 || method === "greet" ? { result: 3 } : right(method, params);
    const text = textReport((await judge(wrong, { seed: 7 })).report);
    expect(text).toContain('        small, one: "It gives a name."\n');
    expect(text).toContain(
      "        the specification is silent: this project requires it, because users rely on it\n",
    );
    expect(text).toContain("waits, 6[2].1 call count, number 2: .result should be 2, got 3\n");
    expect(text).toMatch(
      / {10}sent before it: \{"jsonrpc":"2.0","id":"c-\d","method":"count","params":\{"number":2\}\}\n/,
    );
    expect(text).toContain("  do not hold: S-1, S-4\n  not judged, and must be: S-2\n");
    expect(text).toContain("to run one alone, add to the same command: --only S-1 --seed 7\n");
  });

  it("fails for SAFETY, but not at the level must; the level core has the statements that its suite names", async () => {
    const wrong: Answer = (method, params) => (method === "count" ? { result: 0 } : right(method, params));
    expect((await judge(wrong)).report).toMatchObject({ conforms: false });
    const must = await judge(wrong, { level: "must" });
    expect(must.report.conforms).toBe(true);
    expect(Object.keys(must.outcomes)).not.toContain("S-4");
    expect((await judge(wrong, { level: "core" })).outcomes).toEqual({ "S-4": "fail" });
  });

  it("is the same for a requirement alone as for all", async () => {
    const wrong: Answer = (method, params) =>
      method === "greet" || method === "slow" ? undefined : right(method, params);
    const { outcomes } = await judge(wrong);
    for (const id of Object.keys(outcomes))
      expect((await judge(wrong, { only: [id] })).outcomes).toEqual({ [id]: outcomes[id] });
  });

  it("is not against a server that runs already where only its files and a restart would show it", async () => {
    const folder = await suiteFolder({
      files: `scenario: files
title: Files
steps:
  - { call: greet, checks: { S-1: { result: { name: $text } } } }
  - { file: greeted.txt, optional: true, checks: { S-1: { text: Ada } } }
  - { file: greeted.txt, checks: { S-2: { text: Ada } } }
  - { restart: stop }
  - { call: greet, checks: { S-1 S-3: { result: $any } } }
`,
    });
    const endpoint = `unix:${join(folder, "running.sock")}`;
    const running = await startServer(right)({ endpoint, directory: folder, token: "" });
    onTestFinished(() => running.close());
    const target = { kind: "address", transport: "unix", address: endpoint.slice(5) } as const;
    const report = await runSuite({ suite: loadSuite("small-server", folder), target });
    expect(outcomesOf(report)).toEqual({ "S-1": "pass", "S-2": "unjudged", "S-3": "unjudged" });
    expect(report.scenarios[0]?.problems).toEqual([]);
    expect(textReport(report)).toContain("the suite did not start the target, and does not know its folder");
    expect(textReport(report)).toContain("the suite did not start the target, and cannot start it again");
  });

  it("is against a harness that lets everybody in, where it has a credential", async () => {
    const harness = createTestHarness();
    onTestFinished(() => harness.close());
    const open: StartModule = async ({ endpoint }) => {
      const server = createHttpServer({
        port: Number(new URL(endpoint).port),
        authenticate: allowAnyone,
        routes: { "/ahp": harness },
      });
      await server.listen();
      return { close: () => server.close() };
    };
    const loaded = loadSuite("ahp-server");
    const target = { kind: "module", start: open, name: "open", transport: "http" } as const;
    expect(outcomesOf(await runSuite({ suite: loaded, target, only: ["AHP-81"] }))).toEqual({
      "AHP-81": "fail",
    });
    const said = await runSuite({ suite: loaded, target: { ...target, isOpen: true }, only: ["AHP-81"] });
    expect(outcomesOf(said)).toEqual({});
    const server = createHttpServer({ port: 0, authenticate: allowAnyone, routes: { "/ahp": harness } });
    onTestFinished(() => server.close());
    await server.listen();
    const running = { kind: "address", address: `${server.url}/ahp`, transport: "http" } as const;
    const report = await runSuite({ suite: loaded, target: running, only: ["AHP-81", "AHP-107"] });
    expect(outcomesOf(report)).toEqual({ "AHP-107": "pass" });
  });

  it("is not given on a requirement that needs another one which does not hold", async () => {
    const folder = await suiteFolder({
      needs: `scenario: needs
title: Needs
steps:
  - { call: greet, checks: { S-1: { result: { name: $number } } } }
  - { call: greet, checks: { S-6: { result: { name: $number } } } }
`,
    });
    const target = { kind: "module", start: startServer(right), name: "small", transport: "unix" } as const;
    const report = await runSuite({ suite: loadSuite("small-server", folder), target });
    expect(outcomesOf(report)).toEqual({ "S-1": "fail", "S-6": "unjudged" });
    expect(textReport(report)).toContain("S-1 does not hold, and it needs that");
  });

  it("is as expected where a file names all that fails, steps included", async () => {
    const { report, folder, loaded } = await judge((...call) =>
      call[0] === "slow" ? undefined : right(...call),
    );
    const file = join(folder, "expected.yaml");
    const expected = ["{ id: S-3, reason: slow }", "{ scenario: waits, reason: slow }"];
    const verdictOf = (entries: readonly string[]) => {
      writeFileSync(file, `expected: [${entries.join(", ")}]\n`);
      return judgeExpected(report, readExpected(file, loaded));
    };
    expect(verdictOf(expected)).toEqual({ conforms: true, expected: ["S-3", "waits"], holds: [] });
    expect(verdictOf(expected.slice(0, 1))).toMatchObject({ conforms: false });
    // A scenario stands for its steps without a check, not for the requirements that it checks.
    expect(verdictOf(expected.slice(1))).toMatchObject({ conforms: false, expected: ["waits"] });
    expect(verdictOf([...expected, "{ id: S-1, reason: soon }"])).toEqual({
      conforms: true,
      expected: ["S-3", "waits"],
      holds: ["S-1"],
    });
    const elsewhere = [...expected, "{ id: S-1, reason: soon, suite: ahp-server }"];
    expect(verdictOf(elsewhere)).toMatchObject({ conforms: true, holds: [] });
  });

  it("comes soon for a target that says nothing, and names the limit", async () => {
    const silent = judge(() => undefined, { limits: { withinMs: 100, startTimeoutMs: 400 } });
    await expect(silent).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/said nothing: .* did not come within 400 ms \(--within gives more\)/),
    });
  });

  it("is about the rest of a scenario whose first waits were in vain, where the target answers in another one", async () => {
    const late: Answer = (method) => (["greet", "last"].includes(method) ? { result: {} } : undefined);
    expect((await judge(late, { only: ["S-5"] })).outcomes).toEqual({ "S-5": "pass" });
  });
});
