import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";
import { SocketClient, serveSocket, waitingThread } from "./support/socket-server.ts";

const dayMs = 86_400_000;

const makeThread = async (cwd: string, ageDays = 0): Promise<string> => {
  const { stdout } = await harness(["run", "--no-policy", "--json", "list files"], { cwd });
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
    const busy = await harness(["threads", "delete", threadId, "--yes"], { cwd });
    expect(busy.code).toBe(1);
    expect(busy.stderr).toContain("is in use by a server");
    expect(await threadsIn(cwd)).toEqual([threadId]);
    await end(server);
    const grantFiles = await readdir(join(cwd, ".harness/grants"));
    const { code, stdout } = await harness(["threads", "delete", threadId, "--yes"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`Removed ${threadId}`);
    expect(await threadsIn(cwd)).toEqual([]);
    expect(grantFiles).toMatchObject([expect.stringContaining(grantId)]);
    expect(await readdir(join(cwd, ".harness/grants"))).toEqual([]);
    const again = await harness(["threads", "delete", threadId, "--yes"], { cwd });
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("There is no thread");
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
    const dry = await harness(["threads", "prune", "--older-than", "30d", "--dry-run"], { cwd });
    expect(dry.stdout).toContain("2 threads would be removed");
    expect(await threadsIn(cwd)).toHaveLength(3);
    const kept = await harness(["threads", "prune", "--older-than", "30d", "--keep", "2", "--json"], { cwd });
    expect(JSON.parse(kept.stdout)).toEqual({ dryRun: false, removed: [oldest], locked: [] });
    const rest = await harness(["threads", "prune", "--older-than", "720h"], { cwd });
    expect(rest.stdout).toContain(`removed  ${older}`);
    expect(await threadsIn(cwd)).toEqual([young]);
  });

  it("leaves what a server writes alone and names it", async () => {
    const cwd = await makeWorkspace();
    const threadId = await makeThread(cwd, 40);
    const server = await serveSocket(cwd);
    const client = await SocketClient.connect(server);
    await client.peer.request("thread.subscribe", { threadId });
    const { code, stdout } = await harness(["threads", "prune", "--older-than", "30d"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`in use, left  ${threadId}`);
    expect(stdout).toContain("0 threads removed, 1 in use and left alone");
    expect(await threadsIn(cwd)).toEqual([threadId]);
  });
});

describe("harness grants", () => {
  it("lists what was allowed for always, and takes it back", async () => {
    const { cwd, threadId, server, grantId } = await withGrant();
    await end(server);
    const list = await harness(["grants", "list"], { cwd });
    expect(list.stdout).toContain(`${grantId}  bash echo hi\n`);
    expect(list.stdout).toContain(`in the thread ${threadId} · by starter`);
    const json = await harness(["grants", "list", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ grants: [{ grantId, threadId, tool: "bash" }] });
    expect((await harness(["grants", "revoke", grantId], { cwd })).code).toBe(0);
    expect((await harness(["grants", "list"], { cwd })).stdout).toContain("No calls are always allowed");
    const gone = await harness(["grants", "revoke", grantId], { cwd });
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain(`There is no grant ${grantId}`);
  });
});
