import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failure, jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";
import { SocketClient, serveSocket, waitingThread } from "./support/socket-server.ts";

const withThread = async (prompt: string, args: string[] = []) => {
  const cwd = await makeWorkspace();
  const { stdout } = await harness(["run", "--no-policy", "--json", ...args, prompt], { cwd });
  const { threadId, log } = (jsonLines(stdout).at(-1)?.data ?? {}) as { threadId: string; log: string };
  return { cwd, threadId, log };
};

describe("harness threads", () => {
  it("lists nothing where there is nothing, and makes nothing", async () => {
    const cwd = await makeWorkspace();
    const end = await harness("threads list", { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Begin one: harness run "PROMPT"');
    expect((await harness("threads list --json", { cwd })).stdout).toBe('{"threads":[],"chats":[]}\n');
    await expect(stat(join(cwd, ".harness"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("lists threads, the one used last first", async () => {
    const { cwd, threadId } = await withThread("read README.md");
    const second = await harness("run --no-policy --json 'list files'", { cwd });
    const secondId = jsonLines(second.stdout).at(-1)?.data.threadId;
    const { stdout } = await harness(["threads", "list", "--cwd", cwd], { cwd: "/" });
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^${secondId} {2}\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}list files$`));
    expect(lines[1]).toContain(`${threadId}  `);
  });

  it("shows a thread from its log as it was shown live", async () => {
    const cwd = await makeWorkspace();
    const prompt = "read README.md then run the command: seq 1 3";
    const live = await harness(["run", "--approve", "once", prompt], { cwd });
    const threadId = /thread (ses_\w+)/.exec(live.stderr)?.[1] ?? "";
    const { code, stdout } = await harness(["threads", "show", threadId], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`› ${prompt}\n`);
    const [tools = "", end = ""] = live.stderr.split("\n✓ done");
    expect(stdout).toContain(tools);
    expect(stdout).toContain(`${live.stdout}\n✓ done${end.slice(0, end.indexOf("\n"))}`);
  });

  it("exports the events as they lie in the log", async () => {
    const { cwd, threadId, log } = await withThread("read README.md");
    const lines = await harness(["threads", "export", threadId], { cwd });
    expect(jsonLines(lines.stdout)).toEqual(jsonLines(await readFile(log, "utf8")));
  });

  it.each([["show"], ["export"]])("%s of an unknown thread exits 1 and says what to do", async (command) => {
    const { cwd } = await withThread("list files");
    for (const id of ["ses_00000000", "../../etc", "nonsense\u001b[2J"]) {
      const end = await harness(["threads", command, id], { cwd });
      expect(end).toMatchObject(failure(1, "There is no thread"));
      expect(end.stderr).toContain("harness threads list");
      expect(end.stderr).not.toContain("\u001b");
    }
  });

  it("says that a log is damaged, where, and what to do; lists it, and passes over what is no thread", async () => {
    const { cwd, threadId, log } = await withThread("read README.md");
    const text = (await readFile(log, "utf8")).replace("\n", "\nnot json\n");
    await writeFile(log, text);
    await mkdir(join(cwd, ".harness/threads/ses_1234"));
    await writeFile(join(cwd, ".harness/threads/ses_1234/meta.json"), "{");
    for (const command of [
      ["threads", "show", threadId],
      ["threads", "export", threadId],
      ["run", "--no-policy", "--thread", threadId, "hello"],
    ]) {
      const end = await harness(command, { cwd });
      expect(end.code, command.join(" ")).not.toBe(0);
      expect(end.stderr, command.join(" ")).toContain("damaged in line 2");
      expect(end.stderr, command.join(" ")).toContain("harness doctor");
    }
    const { threads } = JSON.parse((await harness("threads list --json", { cwd })).stdout);
    expect(threads).toHaveLength(1);
    expect(await readFile(log, "utf8")).toBe(text);
  });

  it("changes nothing of what it reads", async () => {
    const { cwd, threadId } = await withThread("read README.md");
    const directory = join(cwd, ".harness/threads", threadId);
    const facts = async () => {
      const names = (await readdir(directory)).sort();
      return Promise.all(names.map(async (name) => [name, (await stat(join(directory, name))).mtimeMs]));
    };
    const before = await facts();
    for (const command of ["show", "export"]) await harness(["threads", command, threadId], { cwd });
    await harness("doctor", { cwd });
    expect(await facts()).toEqual(before);
  });
});

describe("harness threads delete", () => {
  it("removes nothing without a yes: without a terminal it needs --yes", async () => {
    const cwd = await makeWorkspace();
    const { stdout } = await harness("run --no-policy --json 'list files'", { cwd });
    const threadId = String(jsonLines(stdout).at(-1)?.data.threadId);
    const short = threadId.slice(4, 9);
    expect(await harness(["threads", "delete", short], { cwd })).toMatchObject(failure(2, `--yes`));
    expect((await harness(["threads", "show", short], { cwd })).code).toBe(0);
    const removed = await harness(["threads", "delete", short, "--yes"], { cwd });
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stdout).toContain(`Removed ${threadId}`);
    expect((await harness(["threads", "show", short], { cwd })).code).not.toBe(0);
  });
});

const dayMs = 86_400_000;

const makeThread = async (cwd: string, ageDays = 0): Promise<string> => {
  const { stdout } = await harness("run --no-policy --json 'list files'", { cwd });
  const threadId = jsonLines(stdout).at(-1)?.data.threadId as string;
  const directory = join(cwd, ".harness/threads", threadId);
  const [meta, log] = [join(directory, "meta.json"), join(directory, "events.jsonl")];
  const thread = JSON.parse(await readFile(meta, "utf8"));
  thread.time.updated -= ageDays * dayMs;
  await writeFile(meta, JSON.stringify(thread));
  const aged = (await readFile(log, "utf8"))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly time: number })
    .map((event) => `${JSON.stringify({ ...event, time: event.time - ageDays * dayMs })}\n`);
  await writeFile(log, aged.join(""));
  return threadId;
};

/** A thread whose one call was allowed for always. */
const withGrant = async () => {
  const { server, cwd, client, threadId, requestId } = await waitingThread("echo hi");
  await client.peer.request("approval.respond", { requestId, decision: "always" });
  await client.notified("turn.completed");
  const { grants } = (await client.peer.request("grant.list", {})) as { grants: { grantId: string }[] };
  return { cwd, threadId, server, grantId: grants[0]?.grantId ?? "none" };
};

const end = async (server: Awaited<ReturnType<typeof serveSocket>>) => {
  server.program.kill("SIGTERM");
  await server.program.ended;
};

const threadsIn = async (cwd: string) => (await readdir(join(cwd, ".harness/threads"))).sort();

describe("harness threads delete", () => {
  it("removes the thread with its grants, and not while a server writes it", async () => {
    const { cwd, threadId, server, grantId } = await withGrant();
    expect(await harness(["threads", "delete", threadId, "--yes"], { cwd })).toMatchObject(
      failure(1, "is in use by a server"),
    );
    expect(await threadsIn(cwd)).toEqual([threadId]);
    await end(server);
    const grantFiles = await readdir(join(cwd, ".harness/grants"));
    const { code, stdout } = await harness(["threads", "delete", threadId, "--yes"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`Removed ${threadId}`);
    expect(await threadsIn(cwd)).toEqual([]);
    expect(grantFiles).toMatchObject([expect.stringContaining(grantId)]);
    expect(await readdir(join(cwd, ".harness/grants"))).toEqual([]);
    expect(await harness(["threads", "delete", threadId, "--yes"], { cwd })).toMatchObject(
      failure(1, "There is no thread"),
    );
  });
});

describe("harness threads prune", () => {
  it("removes what is older, keeps the last, and only says so with --dry-run", async () => {
    const cwd = await makeWorkspace();
    const [oldest, older, young] = [
      await makeThread(cwd, 40),
      await makeThread(cwd, 35),
      await makeThread(cwd),
    ];
    const none = await harness("threads prune --older-than 9000h --dry-run", { cwd });
    expect(none.stdout).toContain("0 threads would be removed");
    const dry = await harness("threads prune --older-than 30d --dry-run", { cwd });
    expect(dry.stdout).toContain("2 threads would be removed");
    expect(await threadsIn(cwd)).toHaveLength(3);
    const kept = await harness("threads prune --older-than 30d --keep 2 --json", { cwd });
    expect(JSON.parse(kept.stdout)).toEqual({ dryRun: false, removed: [oldest], locked: [] });
    const rest = await harness("threads prune --older-than 720h", { cwd });
    expect(rest.stdout).toMatch(new RegExp(`^${older}  .*  removed  list files`));
    expect(await threadsIn(cwd)).toEqual([young]);
  });

  it("leaves what a server writes alone and names it", async () => {
    const cwd = await makeWorkspace();
    const threadId = await makeThread(cwd, 40);
    const server = await serveSocket(cwd);
    const client = await SocketClient.connect(server);
    await client.peer.request("thread.subscribe", { threadId });
    const { code, stdout } = await harness("threads prune --older-than 30d", { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${threadId}  .*  in use, left  list files`));
    expect(stdout).toContain("0 threads removed, 1 in use and left alone");
    expect(await threadsIn(cwd)).toEqual([threadId]);
  });
});

describe("harness grants", () => {
  it("lists what was allowed for always, and takes it back", async () => {
    const { cwd, threadId, server, grantId } = await withGrant();
    await end(server);
    const list = await harness("grants list", { cwd });
    expect(list.stdout).toContain(`${grantId}  bash echo hi\n`);
    expect(list.stdout).toContain(`in the thread ${threadId} · by starter`);
    const json = await harness("grants list --json", { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ grants: [{ grantId, threadId, tool: "bash" }] });
    expect((await harness(["grants", "revoke", grantId], { cwd })).code).toBe(0);
    expect((await harness("grants list", { cwd })).stdout).toContain("No calls are always allowed");
    expect(await harness(["grants", "revoke", grantId], { cwd })).toMatchObject(
      failure(1, `There is no grant ${grantId}`),
    );
  });
});
