import { chmod, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { findRipgrep } from "@harnesskit/workspace-agent";
import { describe, expect, it } from "vitest";
import { checkKeys, checkNode, checkRipgrep } from "../src/doctor/doctor.ts";
import { conversationsOf } from "../src/store/location.ts";
import { answerOf, makeWorkspace, startProcess } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

interface Finding {
  check: string;
  status: string;
  text: string;
  fix?: string;
}

const doctor = async (cwd: string, env: Record<string, string> = {}) => {
  const { code, stdout } = await harness("doctor --json", { cwd, env });
  const report = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  expect(code).toBe(report.ok ? 0 : 1);
  return { ...report, problems: report.findings.filter(({ status }) => status === "problem") };
};

/** A workspace with one finished thread and nothing left over. */
const withThread = async () => {
  const cwd = await makeWorkspace();
  const client = new ProtocolClient(startHarness("serve --no-policy", { cwd }));
  const threadId = await client.createThread();
  client.program.endInput();
  await client.program.ended;
  return { cwd, threadId, directory: join(cwd, ".harness/threads", threadId) };
};

describe("harness doctor", () => {
  it("is content where nothing is, and makes nothing", async () => {
    const cwd = await makeWorkspace();
    const { code, stdout } = await harness("doctor", { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`✓ node       ${process.versions.node}\n`);
    expect(stdout).toContain("does not exist yet and can be made");
    expect(stdout).toContain("Everything is fine.");
    await expect(stat(join(cwd, ".harness"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("finds a directory that others can read", async () => {
    const { cwd } = await withThread();
    await chmod(join(cwd, ".harness"), 0o755);
    const { problems } = await doctor(cwd);
    expect(problems).toMatchObject([
      { check: "directory", fix: expect.stringContaining(`Close it: chmod 700 ${cwd}/.harness`) },
    ]);
  });

  it("finds a file where the directory should be", async () => {
    const cwd = await makeWorkspace({ ".harness": "" });
    const { problems } = await doctor(cwd);
    expect(problems).toMatchObject([
      { check: "directory", text: expect.stringContaining(`${cwd}/.harness is not a directory`) },
    ]);
  });

  it("names the living process that holds a thread, which is no problem", async () => {
    const cwd = await makeWorkspace();
    const program = startHarness("serve --no-policy", { cwd });
    const client = new ProtocolClient(program);
    const threadId = await client.createThread();
    await client.startTurn(threadId, "run the command: echo hi");
    await client.notified("approval.requested");
    const { findings, problems } = await doctor(cwd);
    expect(findings).toContainEqual({
      check: "policy",
      status: "ok",
      text: expect.stringMatching(/^coding-agent, \d+ rules: in force unless --policy, --ahp or --no-policy/),
    });
    expect(problems).toEqual([]);
    expect(findings).toContainEqual({
      check: "lock",
      status: "note",
      text: `${threadId}: held by process ${process.pid} on ${hostname()}`,
    });
  });

  it("finds a lock that names no process", async () => {
    const { cwd, directory } = await withThread();
    await writeFile(join(directory, "lock.json"), "{");
    expect((await doctor(cwd)).problems).toMatchObject([
      { check: "lock", text: expect.stringMatching(/names no process/) },
    ]);
  });

  it.each([
    ["a garbled line", (created: string) => `${created}garbage \u2028\u001b[2J\n${created}`],
    ["a missing number", (created: string) => created + created.replace('{"seq":1,', '{"seq":3,')],
  ])("finds %s in the middle of a log, and says which", async (_what, damage) => {
    const { cwd, threadId, directory } = await withThread();
    const path = join(directory, "events.jsonl");
    const log = damage(await readFile(path, "utf8"));
    await writeFile(path, log);
    const { problems } = await doctor(cwd);
    expect(problems).toMatchObject([
      { check: "thread", text: expect.stringContaining(`${threadId}: its log is damaged at ${path}:2`) },
    ]);
    expect(await readFile(path, "utf8")).toBe(log);
    const [, remove = ""] = problems[0]?.fix?.split("remove it: harness ") ?? [];
    expect(await harness([...remove.split(" "), "--yes"], { cwd })).toMatchObject({ code: 0 });
    expect((await doctor(cwd)).ok).toBe(true);
  });

  it("finds a thread that cannot be made again, and what it says removes it", async () => {
    const { cwd, threadId, directory } = await withThread();
    await rm(join(directory, "meta.json"));
    await writeFile(join(directory, "events.jsonl"), "");
    const { problems } = await doctor(cwd);
    expect(problems).toMatchObject([
      {
        check: "thread",
        text: expect.stringMatching(/Neither meta.json nor the log/),
        fix: expect.stringMatching(/harness threads delete ses_/),
      },
    ]);
    expect(await harness(["threads", "delete", threadId, "--yes"], { cwd })).toMatchObject(
      answerOf(0, `Removed ${threadId}`),
    );
    expect(await doctor(cwd)).toMatchObject({ ok: true, problems: [] });
    expect(await harness(["threads", "delete", threadId, "--yes"], { cwd })).toMatchObject({ code: 1 });
  });

  it.each([
    ["overwritten", (path: string) => writeFile(path, "x".repeat(20_000))],
    ["emptied", (path: string) => writeFile(path, "")],
    ["cut", (path: string) => truncate(path, 4096)],
    ["damaged in a page", (path: string) => damagePage(path)],
  ])("finds conversations whose file was %s", async (_, damage) => {
    const cwd = await makeWorkspace();
    const path = conversationsOf(cwd).file;
    const store = await openSqliteStore({ file: path });
    await store.close();
    expect((await doctor(cwd)).findings).toContainEqual({
      check: "chats",
      status: "ok",
      text: `${path} is whole`,
    });
    // Other directories' conversations lie beside.
    const own = async () => (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path)));
    const before = await own();
    await damage(path);
    const { problems } = await doctor(cwd);
    expect(problems).toMatchObject([{ check: "chats", text: expect.stringContaining("cannot be used") }]);
    expect(await own()).toEqual(before);
  });
});

/** Overwrites what SQLite keeps at the start of the second page. */
const damagePage = async (path: string): Promise<void> => {
  const bytes = await readFile(path);
  await writeFile(path, bytes.fill(0xee, 4096, 4096 + 100));
};

describe("the checks of the environment", () => {
  it.each([
    ["20.19.0", "ok"],
    ["20.18.9", "problem"],
    ["18.20.0", "problem"],
    ["22.0.0", "ok"],
    ["26.10.0", "ok"],
  ])("Node %s: %s", (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });

  it("looks for the ripgrep that comes with the tools", async () => {
    expect(await checkRipgrep(findRipgrep)).toEqual({
      check: "ripgrep",
      status: "ok",
      text: await findRipgrep(),
    });
    const directory = await makeWorkspace({ rg: "#!/bin/sh\n" });
    const missing = {
      check: "ripgrep",
      status: "problem",
      text: "not installed: the tools glob and grep do not work",
      fix: expect.stringContaining(`@vscode/ripgrep-${process.platform}-${process.arch}`),
    };
    expect(await checkRipgrep(async () => join(directory, "rg"))).toEqual(missing);
    expect(await checkRipgrep(() => Promise.reject(new RangeError("none")))).toEqual(missing);
    // What the package does where it has no executable for the machine.
    const { stdout } = await startProcess(["doctor", "--json"], {
      cwd: directory,
      env: { npm_config_arch: "none" },
    }).ended;
    expect(JSON.parse(stdout).findings).toContainEqual(missing);
  });

  it("takes a blank key for none", () => {
    expect(checkKeys({ OPENAI_API_KEY: " " })).toMatchObject({ status: "note" });
    expect(checkKeys({ OPENAI_API_KEY: "a", ANTHROPIC_API_KEY: "b" }).text).toBe(
      "ANTHROPIC_API_KEY, OPENAI_API_KEY are set",
    );
  });
});
