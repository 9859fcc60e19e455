import { execFileSync } from "node:child_process";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { toList } from "@harnesskit/graph";
import { openPostgresStore } from "@harnesskit/store-postgres";
import { openContinuationStore, openSqliteStore } from "@harnesskit/store-sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import type {} from "../../../../test-kit/postgres-setup.ts";
import { eventually, jsonLines, makeWorkspace, startProcess } from "../support/harness.ts";
import { harness, startHarness } from "../support/in-process.ts";
import { newSchema } from "../support/postgres.ts";

const approvalOf = (stdout: string): string => /\/approve (\w+)/.exec(stdout)?.[1] ?? "";

describe("--store postgres:", () => {
  it("a conversation that waits in one process goes on in another", async () => {
    const cwd = await makeWorkspace();
    const { env } = newSchema();
    const args = ["chat", "--store", "postgres:", "--session", "s", "--no-installed-agents"];
    const first = await harness(args, { cwd, env, input: "write milk.txt: two litres\n" });
    expect(first.code).toBe(3);
    expect(first.stdout).toContain("harness chat --session s --store postgres:");
    const second = await harness(args, { cwd, env, input: `/approve ${approvalOf(first.stdout)}\n` });
    expect(second.stdout).toContain("I wrote `milk.txt`.");
    expect(second.code).toBe(0);
    const stats = await harness("store stats --store postgres: --json", { cwd, env });
    expect(JSON.parse(stats.stdout)).toMatchObject({ suspended: 0, undelivered: 0 });
    const shown = await harness("store stats --store postgres:", { cwd, env });
    expect(shown.stdout).toMatch(/\ntables\n(?: {2}name \w+, rows \d+, bytes \d+\n)+suspended +0\n/);
    expect(shown.stdout).toMatch(/\nconnections +used \d+, max \d+\n/);
  });

  it("threads of serve are kept in the database", async () => {
    const cwd = await makeWorkspace();
    const { env, url, schema } = newSchema();
    const server = startHarness("serve --store postgres: --no-policy --no-installed-agents", { cwd, env });
    server.write('{"jsonrpc":"2.0","id":1,"method":"thread.create","params":{}}\n');
    await server.sees(/"threadId":"(ses_\w+)"/);
    server.endInput();
    expect((await server.ended).code).toBe(0);
    const store = await openPostgresStore({ url, schema });
    onTestFinished(() => store.close());
    expect(await store.threads.list()).toHaveLength(1);
  });

  it("a password in an argument, a URL that is none, and a database that is away: no error repeats the secret", async () => {
    const cwd = await makeWorkspace();
    const secret = "s3cret-password";
    const inArgument = await harness(["chat", "--store", `postgres://me:${secret}@127.0.0.1/db`], { cwd });
    expect(inArgument).toMatchObject({ code: 2, stderr: expect.stringContaining("HARNESS_STORE") });
    const asOption = await harness(["chat", "--store", `postgres://me@127.0.0.1/db?password=${secret}`], {
      cwd,
    });
    expect(asOption.code).toBe(2);
    const unset = await harness("chat --store postgres:", { cwd, env: { HARNESS_STORE: "" } });
    expect(unset).toMatchObject({ code: 2, stderr: expect.stringContaining("HARNESS_STORE") });
    const nonsense = await harness("store check --store postgres:", { cwd, env: { HARNESS_STORE: secret } });
    expect(nonsense.code).toBe(2);
    const env = { HARNESS_STORE: `postgres://me:${secret}@127.0.0.1:1/db`, HARNESS_DEBUG: "1" };
    const away = await harness("store stats --store postgres:", { cwd, env });
    expect(away).toMatchObject({ code: 4, stderr: expect.stringContaining("cannot be reached") });
    for (const { stdout, stderr } of [inArgument, asOption, nonsense, away]) {
      expect(stdout + stderr).not.toContain(secret);
    }
    const other = await harness("chat --store mysql://db", { cwd });
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("mysql:") });
    const threads = await harness("serve --store chat.sqlite", { cwd, input: "" });
    expect(threads.code).toBe(2);
  });
});

describe("harness store", () => {
  it("says that a schema is missing, migrates it, and prunes", async () => {
    const cwd = await makeWorkspace();
    const { env } = newSchema();
    const run = (command: string, ...more: string[]) =>
      harness(["store", command, "--store", "postgres:", "--json", ...more], { cwd, env });
    const before = await run("check");
    expect(before.code).toBe(1);
    expect(JSON.parse(before.stdout)).toMatchObject({ version: 0, status: "older" });
    const migrated = await run("migrate");
    expect(migrated.code).toBe(0);
    const { after, programVersion } = JSON.parse(migrated.stdout);
    expect(after).toBe(programVersion);
    expect((await run("check")).code).toBe(0);
    expect(JSON.parse((await run("prune", "--older-than", "30d")).stdout)).toMatchObject({ sessions: 0 });
    const wrong = await run("prune", "--older-than", "30 days");
    expect(wrong.code).toBe(2);
  });

  it("prunes a file of conversations as well", async () => {
    const cwd = await makeWorkspace();
    const file = await harness("store check --store chats.sqlite", { cwd });
    expect(file).toMatchObject({ code: 2, stderr: expect.stringContaining("Name the database") });
    const missing = await harness("store prune", { cwd });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("does not exist") });
    await harness("chat --session s --no-installed-agents", { cwd, input: "read README.md\n" });
    const young = await harness("store prune --older-than 1d --json", { cwd });
    expect(JSON.parse(young.stdout)).toMatchObject({ sessions: 0 });
    const old = await harness("store prune --older-than 0m --json", { cwd });
    expect(JSON.parse(old.stdout)).toMatchObject({ sessions: 1 });
  });

  it("copies conversations with what waits, and threads with their grants, and compares them", async () => {
    const cwd = await makeWorkspace();
    const { env, url, schema } = newSchema();
    const first = await harness("chat --session s --no-installed-agents", {
      cwd,
      input: "read README.md\nwrite milk.txt: two litres\n",
    });
    await harness("run --no-policy --approve once 'run the command: seq 1 3'", { cwd });
    const copy = () => harness("store copy files:. postgres: --json", { cwd, env });
    const done = await copy();
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      conversations: { total: 1, copied: 1 },
      turns: { total: 1, copied: 1 },
      threads: { total: 1, copied: 1 },
      verified: 3,
    });
    expect(JSON.parse((await copy()).stdout)).toMatchObject({
      conversations: { total: 1, copied: 0 },
      verified: 3,
    });
    const args = ["chat", "--store", "postgres:", "--session", "s", "--no-installed-agents"];
    const answered = await harness(args, { cwd, env, input: `/approve ${approvalOf(first.stdout)}\n` });
    expect(answered.stdout).toContain("I wrote `milk.txt`.");
    // What differs is not overwritten.
    const conflict = await copy();
    expect(conflict).toMatchObject({ code: 1, stderr: expect.stringContaining("different content") });
    const store = await openPostgresStore({ url, schema });
    onTestFinished(() => store.close());
    const [thread] = await store.threads.list();
    const exported = await harness(["threads", "export", thread?.threadId ?? ""], { cwd });
    const events: unknown[] = [];
    for await (const event of store.threads.events(thread?.threadId ?? "")) events.push(event);
    expect(events).toEqual(jsonLines(exported.stdout));
  });

  it("goes on with a copy that was killed in the middle", async () => {
    const cwd = await makeWorkspace();
    const { env, url, schema } = newSchema();
    const file = join(cwd, "chat.sqlite");
    const count = 200;
    const source = await openSqliteStore({ file });
    for (let index = 0; index < count; index++) {
      let version: number | null = null;
      for (const length of [1, 3]) {
        const items = Array.from({ length }, (_, place) => `${index}-${place}`);
        const lists = {
          messages: { keep: length === 1 ? 0 : 1, items: length === 1 ? items : items.slice(1) },
        };
        const changes = { fields: { turn: length }, lists, removed: [] };
        const state = { messages: toList(items), turn: length };
        const write = { sessionId: `s${index}`, schemaVersion: "1", state, baseVersion: version, changes };
        ({ version } = await source.sessions.save(write));
      }
    }
    await source.close();
    const store = await openPostgresStore({ url, schema });
    onTestFinished(() => store.close());
    const args = ["store", "copy", "sqlite:chat.sqlite", "postgres:", "--json"];
    const dying = startProcess(args, { cwd, env });
    await eventually(async () => expect((await store.graph.sessions.list()).length).toBeGreaterThan(3));
    dying.kill("SIGKILL");
    await dying.ended;
    const there = (await store.graph.sessions.list()).length;
    expect(there).toBeLessThan(count);
    const again = await harness(args, { cwd, env });
    expect(again).toMatchObject({ code: 0 });
    const report = JSON.parse(again.stdout);
    expect(report).toMatchObject({ conversations: { total: count }, verified: count });
    expect(report.conversations.copied).toBeGreaterThanOrEqual(count - there);
    const history = await store.graph.sessions.history("s7", 10);
    expect(JSON.parse(JSON.stringify(history.map(({ state }) => state)))).toEqual([
      { messages: ["7-0", "7-1", "7-2"], turn: 3 },
      { messages: ["7-0"], turn: 1 },
    ]);
  }, 120_000);

  it.each(["a FIFO", "a link"])(
    "ends at an artifact that is %s, without following it or waiting",
    async (kind) => {
      const cwd = await makeWorkspace({ "secret.txt": "s3cret" });
      const { env, url, schema } = newSchema();
      await harness("run --no-policy --approve once 'run the command: seq 1 3'", { cwd });
      const threads = join(cwd, ".harness/threads");
      const [threadId = ""] = await readdir(threads);
      const artifacts = join(threads, threadId, "artifacts");
      await mkdir(artifacts, { recursive: true });
      const path = join(artifacts, "planted.txt");
      if (kind === "a FIFO") execFileSync("mkfifo", [path]);
      else await symlink(join(cwd, "secret.txt"), path);
      const copied = await harness("store copy files:. postgres:", { cwd, env });
      expect(copied).toMatchObject({ code: 1, stderr: expect.stringContaining("planted.txt") });
      const store = await openPostgresStore({ url, schema });
      onTestFinished(() => store.close());
      const events: unknown[] = [];
      for await (const event of store.threads.events(threadId)) events.push(event);
      expect(events).toEqual([]);
    },
  );

  it("copies open questions of shells, signed by the key of their store", async () => {
    const cwd = await makeWorkspace();
    const { env, url, schema } = newSchema();
    const file = join(cwd, "chat.sqlite");
    const graph = await openSqliteStore({ file });
    await graph.close();
    const continuations = await openContinuationStore({ file });
    await continuations.keep("c1", { run: 1 }, Date.now() + 3_600_000, "ada");
    const { key } = continuations;
    await continuations.close();
    const copied = await harness("store copy sqlite:chat.sqlite postgres: --json", {
      ...{ cwd, env },
    });
    expect(JSON.parse(copied.stdout)).toMatchObject({ continuations: { total: 1, copied: 1 } });
    const store = await openPostgresStore({ url, schema });
    onTestFinished(() => store.close());
    expect([...store.continuations.key]).toEqual([...key]);
    const claimed = { status: "claimed", data: { run: 1 } };
    expect(await store.continuations.claim("c1", Date.now() + 3_600_000)).toEqual(claimed);
  });
});
