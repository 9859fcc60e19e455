import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { node, project, root } from "./support.ts";

const entry = (id: string, more = "") =>
  `  - { id: ${id}, section: "2.1", level: MUST, text: "A server answers."${more} }\n`;
const file = (entries: string) => `protocol: threads\nspec: The thread protocol\nrequirements:\n${entries}`;
const test = (state: string, name = "answers") => ({ file: "packages/a/test/a.test.ts", name, state });

async function check(yaml: Record<string, string>, claims: object) {
  const requirements = Object.fromEntries(
    Object.entries(yaml).map(([name, text]) => [`requirements/${name}`, text]),
  );
  const dir = await project({ ...requirements, "claims.json": claims });
  return node([
    "scripts/check-requirements.mjs",
    `--requirements=${join(dir, "requirements")}`,
    `--claims=${join(dir, "claims.json")}`,
  ]);
}

describe("the requirements gate", () => {
  it("passes when a passing test claims every testable requirement", async () => {
    const yaml = { "threads.yaml": file(entry("THR-1") + entry("THR-2", ', untestable: "about people"')) };
    const { code, output } = await check(yaml, { "THR-1": [test("failed", "old"), test("passed")] });
    expect(output).toBe("requirements: ok (2 requirements, 1 of them untestable)\n");
    expect(code).toBe(0);
  });

  it("takes a choice of this project's own, with its decision record", async () => {
    const yaml = { "threads.yaml": file(entry("THR-1").replace("MUST", 'CHOICE, adr: "0004"')) };
    expect((await check(yaml, { "THR-1": [test("passed")] })).code).toBe(0);
  });

  it.each([
    ["a check cites it", "THR-1", "", 0, ""],
    ["it says why none can", "RPC-1", ', unobservable: "it is inside"', 0, ""],
    ["no check cites it", "RPC-1", "", 1, "THR-1 is cited by no check of scenarios/threads"],
    ["a check cites an unknown id", "THR-1 THR-9", "", 1, "a check cites THR-9, which is no requirement"],
    [
      "a check cites what is called unobservable",
      "THR-1",
      ', unobservable: "it is inside"',
      1,
      "called unobservable",
    ],
  ])("judges the checks of scenarios: %s", async (_, ids, more, expected, finding) => {
    const known = `${file(entry("THR-1", more))}`;
    const rpc = file(entry("RPC-1"));
    const dir = await project({
      "requirements/threads.yaml": known,
      "requirements/jsonrpc.yaml": rpc,
      "scenarios/threads/server/a.yaml": `steps:\n  - { call: x, checks: { ${ids}: $any } }\n`,
      "claims.json": { "THR-1": [test("passed")], "RPC-1": [test("passed")] },
    });
    const { code, output } = await node([
      "scripts/check-requirements.mjs",
      `--requirements=${join(dir, "requirements")}`,
      `--claims=${join(dir, "claims.json")}`,
    ]);
    expect(output).toContain(finding);
    expect(code).toBe(expected);
  });

  it.each([
    ["nobody claims it", {}, "threads.yaml: THR-1 is claimed by no test"],
    [
      "only a failed test claims it",
      { "THR-1": [test("failed")] },
      "THR-1 is claimed by no passing test: packages/a/test/a.test.ts › answers (failed)",
    ],
    [
      "only a skipped test claims it",
      { "THR-1": [test("skipped")] },
      "THR-1 is claimed by no passing test: packages/a/test/a.test.ts › answers (skipped)",
    ],
    [
      "an unknown id is claimed",
      { "THR-1": [test("passed")], "THR-9": [test("passed")] },
      "THR-9 is in no requirement file, but is claimed by packages/a/test/a.test.ts › answers",
    ],
  ])("fails when %s", async (_, claims, finding) => {
    const { code, output } = await check({ "threads.yaml": file(entry("THR-1")) }, claims);
    expect(output).toContain(finding);
    expect(output).toContain("requirements: 1 finding (");
    expect(code).toBe(1);
  });

  it.each([
    ["a duplicate id", file(entry("THR-1") + entry("THR-1")), "THR-1 is already in threads.yaml"],
    ["no list", "protocol: threads\nspec: x\n", "needs a list `requirements` with at least one entry"],
    ["no protocol", `spec: x\nrequirements:\n${entry("THR-1")}`, "needs `protocol` and `spec` at its top"],
    ["broken YAML", "protocol: [\n", "threads.yaml: "],
    ["an entry that is no mapping", file("  - THR-1\n"), "entry 1 is not a mapping"],
    ["a malformed id", file(entry("thr1")), "thr1 has no id such as THR-12"],
    ["an unknown level", file(entry("THR-1").replace("MUST", "OUGHT")), "THR-1 has no level of MUST, SHOULD"],
    [
      "a choice without a record",
      file(entry("THR-1").replace("MUST", "CHOICE")),
      "THR-1 is a CHOICE and names no adr",
    ],
    [
      "a choice with a record that is not there",
      file(entry("THR-1").replace("MUST", 'CHOICE, adr: "9999"')),
      "THR-1 names an adr that is not in docs/adr: 9999",
    ],
    [
      "a record without a choice",
      file(entry("THR-1", ', adr: "0004"')),
      "THR-1 has an adr, which is for the level CHOICE",
    ],
    ["an empty text", file(entry("THR-1").replace("A server answers.", " ")), "THR-1 has no sentence"],
    ["no section", file(entry("THR-1").replace('section: "2.1", ', "")), "THR-1 has no section"],
    ["an unknown key", file(entry("THR-1", ", not: 1")), "THR-1 has an unknown key: not"],
    ["an empty reason", file(entry("THR-1", ', untestable: ""')), "THR-1 does not say why it is untestable"],
    [
      "a tested untestable",
      file(entry("THR-1", ", untestable: no")),
      "called untestable, but a test passes it",
    ],
  ])("fails on %s", async (_, yaml, finding) => {
    const { code, output } = await check({ "threads.yaml": yaml }, { "THR-1": [test("passed")] });
    expect(output).toContain(finding);
    expect(code).toBe(1);
  });

  it("fails on an id that two files hold", async () => {
    const yaml = { "a.yaml": file(entry("THR-1")), "b.yaml": file(entry("THR-1")) };
    const { code, output } = await check(yaml, { "THR-1": [test("passed")] });
    expect(output).toContain("b.yaml: THR-1 is already in a.yaml");
    expect(code).toBe(1);
  });

  it("fails without requirement files and without claims", async () => {
    const dir = await project({ "requirements/notes.txt": "" });
    const { code, output } = await node([
      "scripts/check-requirements.mjs",
      `--requirements=${join(dir, "requirements")}`,
      `--claims=${join(dir, "claims.json")}`,
    ]);
    expect(output).toContain("holds no requirement file");
    expect(output).toContain("claims.json: missing; run the tests first");
    expect(code).toBe(1);
  });
});

describe("verifies() and the reporter", () => {
  const suite = `
    import { describe, expect, it } from "vitest";
    import { verifies } from "@harnesskit/conformance/verifies";
    const codeOf = (act: () => void) => {
      try { act(); } catch (error) { return (error as { code: string }).code; }
      return "none";
    };
    const outside = codeOf(() => verifies("THR-1"));
    describe("a server", () => {
      it("answers", async () => {
        await Promise.resolve();
        verifies("THR-1", "THR-2");
        await new Promise((settle) => setImmediate(settle));
        verifies("THR-3", "THR-1");
        expect(outside).toBe("no_running_test");
      });
      it("fails", () => { verifies("THR-2"); expect(1).toBe(2); });
      it("gives up", ({ skip }) => { verifies("THR-4"); skip("no server here"); });
      it("refuses", () => {
        expect(codeOf(() => verifies())).toBe("no_ids");
        expect(codeOf(() => verifies("THR 5"))).toBe("malformed_id");
      });
      it.concurrent("is one of many", ({ expect }) => {
        expect(codeOf(() => verifies("THR-6"))).toBe("concurrent_test");
      });
    });
  `;
  const config = `
    export default {
      test: { reporters: ["default", ${JSON.stringify(join(root, "scripts/requirements-reporter.ts"))}] },
    };
  `;

  it("records the claims of each test with its state", async () => {
    const dir = await project({ "a.test.ts": suite, "vitest.config.ts": config }, join(root, ".cache"));
    const { code, output } = await node(
      [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", dir],
      {
        env: { HARNESSKIT_CLAIMS_FILE: join(dir, "claims.json"), VITEST: undefined },
      },
    );
    expect(output).toContain("1 failed | 3 passed | 1 skipped");
    expect(code).toBe(1);
    const { default: claims } = await import(join(dir, "claims.json"), { with: { type: "json" } });
    const by = (name: string, state: string) => ({ file: "a.test.ts", name: `a server > ${name}`, state });
    expect(claims).toEqual({
      "THR-1": [by("answers", "passed")],
      "THR-2": [by("answers", "passed"), by("fails", "failed")],
      "THR-3": [by("answers", "passed")],
      "THR-4": [by("gives up", "skipped")],
    });
  });
});
