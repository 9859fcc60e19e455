import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory, until } from "../../test-kit/test-kit.ts";
import { loadSuite, runConformance, runSuite } from "../src/index.ts";
import { changedTarget } from "./changes/changed-target.ts";
import { type Change, readChanges } from "./changes/read-changes.ts";
import { startAhpHarness } from "./targets/ahp-harness.ts";

const run = async (args: readonly string[], signal?: AbortSignal) => {
  let stdout = "";
  let stderr = "";
  const code = await runConformance(args, {
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return { code, stdout, stderr };
};

/** A run whose own code throws while it shows its progress. */
const runBroken = async () => {
  let stderr = "";
  const code = await runConformance(["ahp-server", "--unix", await harnessAt(), "--only", "AHP-10"], {
    stdout: () => {},
    stderr: (text) => {
      if (/^\d+\/\d+ /.test(text)) throw new TypeError("a bug");
      stderr += text;
    },
  });
  return { code, stderr };
};

const folder = async (): Promise<string> => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory.path;
};

/** A harness that runs already, at a socket; with the messages of a change by its name. */
const harnessAt = async (name?: string): Promise<string> => {
  const directory = await folder();
  const path = join(directory, "harness.sock");
  const change = readChanges("ahp-server").changes.find((each) => each.name === name);
  const { role } = loadSuite("ahp-server");
  const start =
    name === undefined ? startAhpHarness : changedTarget(startAhpHarness, role, change as Change, {});
  const harness = await start({ endpoint: `unix:${path}`, token: "", directory });
  onTestFinished(() => harness.close());
  return path;
};

const ending = "echo no model is configured >&2; exit 3";

describe("the command", () => {
  it("ends with 0 for a target that conforms, and shows its progress and a table", async () => {
    const { code, stdout, stderr } = await run(["ahp-server", "--unix", await harnessAt(), "--seed", "7"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Batching Rules +\d+ +0 +0 +0 +0\n/);
    expect(stdout).toContain("ahp-server 2.4 over unix, seed 7: conforms");
    expect(stderr).toContain("14/14 scenarios");
  });

  it("ends with 1 for one that does not, and writes reports of what does not hold", async () => {
    const directory = await folder();
    const [junit, html] = [join(directory, "a.xml"), join(directory, "a.html")];
    const unix = await harnessAt("takes any depth");
    const args = ["ahp-server", "--unix", unix, "--only", "AHP-70,AHP-72", "--quiet"];
    const { code, stdout, stderr } = await run([...args, "--json", "--junit", junit, "--html", html]);
    expect(code).toBe(1);
    expect(stderr).toBe("");
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ conforms: false, counts: { pass: 1, fail: 1 } });
    expect(report.requirements[0]).toMatchObject({ id: "AHP-70", outcome: "fail" });
    expect(readFileSync(junit, "utf8")).toContain('<failure message="does not hold">');
    expect(readFileSync(junit, "utf8")).toContain('tests="2" failures="1"');
    expect(readFileSync(html, "utf8")).toContain('<span class="fail">does not conform</span>');
    expect((await run(args)).stdout).toContain("FAIL  AHP-70 (SAFETY)");
  });

  it("takes failures that a file expects, and notes entries that hold", async () => {
    const file = join(await folder(), "expected.yaml");
    const target = ["--unix", await harnessAt("takes any depth"), "--only", "AHP-70,AHP-72", "--quiet"];
    const runWith = (...entries: readonly string[]) => {
      writeFileSync(file, `expected: [${entries.join(", ")}]\n`);
      return run(["ahp-server", ...target, "--expected", file]);
    };
    const known = "{ id: AHP-70, reason: soon }";
    const stderr = "expected: AHP-70 does not hold\n";
    const rest = "nothing fails that is not expected\n";
    expect(await runWith(known)).toMatchObject({ code: 0, stderr: stderr + rest });
    const note = "note: AHP-72 is expected to fail, and holds in this run\n";
    expect(await runWith(known, "{ id: AHP-72, reason: soon }")).toMatchObject({
      code: 0,
      stderr: stderr + note + rest,
    });
    // What is not checked in this run is not mentioned.
    expect(await runWith(known, "{ id: AHP-10, reason: soon }")).toMatchObject({
      code: 0,
      stderr: stderr + rest,
    });
    expect(await runWith()).toMatchObject({ code: 1, stderr: "" });
  });

  it.each([
    ["{ id: AHP-70 }", "invalid"],
    ["{ id: AHP-9999, reason: soon }", "ahp-server has no requirement AHP-9999"],
    ["{ scenario: nothing, reason: soon }", "ahp-server has no scenario nothing"],
    ["{ id: AHP-70, suite: ahp, reason: soon }", "there is no suite ahp"],
  ])("ends with 2, before it starts the target, for the expected failure %s", async (entry, text) => {
    const directory = await folder();
    const file = join(directory, "expected.yaml");
    writeFileSync(file, `expected: [${entry}]\n`);
    const started = join(directory, "started");
    const { code, stderr } = await run(["ahp-server", "--stdio", `touch '${started}'`, "--expected", file]);
    expect(stderr.toLowerCase()).toContain(text.toLowerCase());
    expect(code).toBe(2);
    expect(existsSync(started)).toBe(false);
  });

  it.each([
    [[], "name a suite: "],
    [["nothing", "--stdio", "cat"], 'there is no suite "nothing"'],
    [["ahp-server"], "name one target"],
    [["ahp-server", "--stdio", "cat", "--unix", "a"], "name one target"],
    [["ahp-server", "--nothing"], "--nothing"],
    [["ahp-server", "--http", "unix:a"], "--http must be a URL"],
    [["ahp-server", "--start", "cat", "--on", "pigeon"], "--on must be one of stdio"],
    [["ahp-server", "--stdio", "cat", "--only", "AHP-9999"], "no check of ahp-server cites AHP-9999"],
    [["ahp-server", "--stdio", "cat", "--seed", "x"], "--seed must be a whole number"],
    [["ahp-server", "--stdio", "cat", "--set", "x"], "--set takes NAME=VALUE"],
    [["threads-server", "--tcp", "127.0.0.1:1"], "threads-server has no transport tcp"],
    [["ahp-client", "--unix", "/nowhere"], "a client is started by the suite"],
    [["ahp-server", "--stdio", "cat", "--expected", "/nowhere.yaml"], "cannot read /nowhere.yaml"],
  ])("ends with 2 for %j, also in JSON", async (args, text) => {
    const { code, stdout, stderr } = await run([...args, "--json"]);
    expect(stderr).toContain(text);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "usage", exitCode: 2 } });
    expect(code).toBe(2);
  });

  it.each([
    ["an address where nothing listens", ["--unix", "/nowhere/a.sock"], "cannot be reached"],
    ["a program that does not exist", ["--stdio", "no-such-program"], "no-such-program: not found"],
    ["a server that ends at once", ["--start", "exit 3", "--on", "unix"], "ended before it listened"],
    ["a server that ends with words", ["--start", ending, "--on", "unix"], "no model is configured"],
    ["a program that ends with words", ["--stdio", ending], "\n  no model is configured"],
    ["a server over HTTP that ends at once", ["--start", ending, "--on", "http"], "no model is configured"],
    [
      "a program that never listens",
      ["--start", "sleep 60", "--on", "unix", "--within", "50"],
      "within 250 ms",
    ],
    ["a module that does not exist", ["--module", "/nowhere.mjs"], "cannot load /nowhere.mjs"],
  ])("ends with 4 for %s", async (_, target, text) => {
    const { code, stderr } = await run(["ahp-server", ...target, "--only", "AHP-10", "--quiet"]);
    expect(stderr).toContain(text);
    expect(code).toBe(4);
  });

  it.each([
    [
      "ends at once",
      "echo no model is configured >&2; exit 3",
      "2000",
      "the target exited with 3: no model is configured",
    ],
    ["never connects", "sleep 60", "50", "within 250 ms (--within gives more)"],
  ])("ends with 4 for a client that %s", async (_, command, within, text) => {
    const target = ["--start", command, "--on", "unix", "--within", within];
    const { code, stderr } = await run(["ahp-client", ...target, "--quiet"]);
    expect(stderr).toContain(text);
    expect(code).toBe(4);
  });

  it("soon leaves a target that speaks and answers nothing: the other scenarios are not judged", async () => {
    const { code, stdout } = await run(["ahp-server", "--stdio", "cat", "--within", "100", "--quiet"]);
    expect(code).toBe(1);
    expect(stdout).toContain("the target answered nothing in other scenarios");
  });

  it("ends with 4 as soon as a server has died of the first message, over HTTP too", async () => {
    const program = `
      const { port } = new URL(process.env.CONFORMANCE_ENDPOINT);
      const die = () => { console.error("out of tokens"); process.exit(3); };
      require("node:net").createServer((socket) => socket.on("data", die).on("error", () => {})).listen(port);`;
    const begun = performance.now();
    const command = `exec '${process.execPath}' -e '${program}'`;
    const { code, stderr } = await run(["ahp-server", "--start", command, "--on", "http", "--quiet"]);
    expect(stderr).toContain("the target exited with 3: out of tokens");
    expect(code).toBe(4);
    expect(performance.now() - begun).toBeLessThan(9000);
  });

  it("ends with 2 for a report that cannot be written, before the run", async () => {
    const args = ["ahp-server", "--stdio", "cat", "--quiet", "--html", "/nowhere/a.html"];
    const { code, stderr } = await run(args);
    expect(stderr).toContain("cannot write /nowhere/a.html");
    expect(code).toBe(2);
  });

  it("ends with 70 for a fault of its own, which is no verdict", async () => {
    const { code, stderr } = await runBroken();
    expect(stderr).toContain(
      "the suite itself failed, which is no verdict about the target: TypeError: a bug",
    );
    expect(code).toBe(70);
  });

  it("ends with 130 when it is interrupted", async () => {
    const interruption = new AbortController();
    const running = run(["ahp-server", "--stdio", "sleep 60", "--quiet"], interruption.signal);
    interruption.abort();
    expect(await running).toMatchObject({ code: 130 });
  });

  it("lists the requirements of a role and which a check cites", async () => {
    const { code, stdout } = await run(["ahp-server", "--list"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^check {2}AHP-10 +MUST/m);
    expect(stdout).toMatch(/^ {5} {2}AHP-185 +FACT/m);
    expect(stdout).not.toContain("Client:");
  });

  it("lists the suites without one", async () => {
    const { code, stdout } = await run(["--list"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ahp-server +2\.4 +stdio, unix, tcp, http, ws$/m);
    expect(stdout).toMatch(/^runtime-core +1 +unix, tcp$/m);
  });

  it("removes the folder of a target that cannot be started", async () => {
    const directories: string[] = [];
    const start = async ({ directory }: { directory: string }) => {
      directories.push(directory);
      throw new TypeError("it cannot start");
    };
    const target = { kind: "module", start, name: "broken", transport: "unix" } as const;
    const running = runSuite({ suite: loadSuite("ahp-server"), target, only: ["AHP-10"] });
    await expect(running).rejects.toMatchObject({ name: "ConformanceError", code: "unavailable" });
    expect(directories.length).toBeGreaterThan(0);
    expect(directories.filter((directory) => existsSync(directory))).toEqual([]);
  });

  it("leaves no process and no folder of the target behind", async () => {
    const notes = join(await folder(), "notes");
    const command = `sleep 300 & echo "$! $CONFORMANCE_DIR" >> '${notes}'; cat`;
    const { code } = await run([
      "ahp-server",
      "--stdio",
      command,
      "--only",
      "AHP-10",
      "--within",
      "200",
      "--quiet",
    ]);
    expect(code).toBe(1);
    const [pid = "", directory = ""] = readFileSync(notes, "utf8").trim().split(" ");
    expect(existsSync(directory)).toBe(false);
    await until(() => {
      try {
        process.kill(Number(pid), 0);
        return false;
      } catch {
        return true;
      }
    }, `the process ${pid} to end`);
  });
});
