import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ThreadStoreError } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer, ownDirectory, serve as serveAgent } from "./support/serve.ts";
import { sayingRunner } from "./support/tools.ts";

const run = promisify(execFile);

/** What may lie where a file of the store belongs. */
const strangers: Record<string, (path: string) => Promise<unknown>> = {
  "a FIFO": (path) => run("mkfifo", [path]),
  "a link to a device that never ends": (path) => symlink("/dev/zero", path),
  "a link to a file": async (path) => {
    await writeFile(`${path}.elsewhere`, '{"threadId":"ses_other"}');
    await symlink(`${path}.elsewhere`, path);
  },
  "a directory": (path) => mkdir(path),
  "a file of a terabyte": async (path) => {
    await writeFile(path, "");
    await truncate(path, 2 ** 40);
  },
};

const put = async (kind: string, path: string): Promise<void> => {
  await rm(path, { force: true, recursive: true });
  await strangers[kind]?.(path);
};

const serve = (root: string) => {
  const errors: { error: ThreadStoreError; threadId: string }[] = [];
  const store = createFileThreadStore({
    root,
    grantKeyPath: join(root, "..", "grants.key"),
    isOwnerDead: () => true,
    onError: (error, { threadId }) => errors.push({ error, threadId }),
  });
  const server = openServer({ runner: sayingRunner("done"), store });
  return { server, store, client: RawClient.connect(server), errors };
};

/** A workspace with two threads, of which one goes bad. */
const twoThreads = async (root: string): Promise<{ good: string; bad: string }> => {
  const { server, client } = serve(root);
  const good = await client.createThread();
  const bad = await client.createThread();
  await client.turnEnd((await client.startTurn(good)).result.turnId);
  await server.close();
  return { good, bad };
};

const threadsOf = async (client: RawClient): Promise<string[]> =>
  (await client.call("thread.list")).result.threads
    .map(({ threadId }: { threadId: string }) => threadId)
    .sort();

describe("a thread that was used at a time that no clock has", () => {
  it("ends no search and no list", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const { good, bad } = await twoThreads(root);
    const meta = join(root, "threads", bad, "meta.json");
    const thread = JSON.parse(await readFile(meta, "utf8"));
    await writeFile(meta, JSON.stringify({ ...thread, time: { created: 1, updated: 1e300 } }));
    const { client } = serve(root);
    const { threads, nextCursor } = (await client.call("thread.list", { limit: 1 })).result;
    expect(threads).toMatchObject([{ threadId: bad }]);
    const rest = await client.call("thread.list", { limit: 1, cursor: nextCursor });
    expect(rest.result.threads).toMatchObject([{ threadId: good }]);
    const page = await client.call("thread.search", { query: "thread", limit: 1 });
    const after = { limit: 1, cursor: page.result.nextCursor };
    const more = await client.call("thread.search", { query: "thread", ...after });
    expect(more.result.hits).toMatchObject([{ thread: { threadId: good } }]);
  });
});

describe.each(Object.keys(strangers))("%s in the place of a file of a thread", (kind) => {
  it("as meta.json costs nothing: the log says what thread it is, and the file is written anew", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const { good, bad } = await twoThreads(root);
    const meta = join(root, "threads", bad, "meta.json");
    await put(kind, meta);
    const { client, errors } = serve(root);
    expect(await threadsOf(client)).toEqual([good, bad].sort());
    expect((await client.events(bad)).map(({ type }) => type)).toEqual(["thread.created"]);
    expect(errors).toEqual([]);
    if (kind !== "a directory")
      expect(JSON.parse(await readFile(meta, "utf8"))).toMatchObject({ threadId: bad });
  });

  it("as events.jsonl ends the requests of this thread with an error, and no other one's", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const { good, bad } = await twoThreads(root);
    await put(kind, join(root, "threads", bad, "events.jsonl"));
    const { client } = serve(root);
    expect((await client.call("thread.get", { threadId: bad })).error?.code).toBe(-32603);
    expect((await client.startTurn(bad)).error?.code).toBe(-32603);
    expect(await threadsOf(client)).toEqual([good, bad].sort());
    await client.turnEnd((await client.startTurn(good)).result.turnId);
    const { result } = await client.call("thread.search", { query: "done" });
    expect(result).toMatchObject({
      hits: [{ thread: { threadId: good } }, { thread: { threadId: good } }],
      skipped: [{ threadId: bad, reason: expect.stringMatching(/harness doctor|could not be read/) }],
    });
    expect((await client.call("thread.search", { query: "done", threadId: bad })).error?.code).toBe(-32603);
  });

  it("as both leaves the thread out of the list, which is reported", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const { good, bad } = await twoThreads(root);
    await put(kind, join(root, "threads", bad, "events.jsonl"));
    await put(kind, join(root, "threads", bad, "meta.json"));
    const { client, errors } = serve(root);
    expect(await threadsOf(client)).toEqual([good]);
    expect((await client.call("thread.get", { threadId: bad })).error?.code).toBe(-32001);
    // By each listing: of the threads whose queues go on, and of the client.
    const reported = errors.map(({ error, threadId }) => [
      error.code,
      ThreadStoreError.isInstance(error),
      threadId,
    ]);
    expect(reported).toEqual(reported.map(() => ["store_failed", true, bad]));
    expect(reported.length).toBeGreaterThan(0);
    await client.turnEnd((await client.startTurn(good)).result.turnId);
  });

  it("as a grant allows nothing", async () => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    const { client } = serveAgent({ root, key: join(root, "..", "grants.key") });
    const threadId = await client.createThread();
    const { result } = await client.startTurn(threadId);
    const { params } = await client.notification("approval.requested");
    await client.answer(params.requestId, "always");
    await client.turnEnd(result.turnId);
    const { grants } = (await client.call("grant.list")).result;
    expect(grants).toHaveLength(1);
    const { stdout } = await run("ls", [join(root, "grants")]);
    await put(kind, join(root, "grants", stdout.trim()));
    const second = await client.call("grant.list");
    if (kind === "a directory") expect(second.error?.code ?? second.result.grants).toEqual([]);
    else expect(second.result.grants).toEqual([]);
  });
});

describe("a directory of .harness that is a link", () => {
  it.each([".", "threads", "grants", "requests"])("%s is refused for reading, too", async (place) => {
    const dir = await ownDirectory();
    const root = join(dir, ".harness");
    await twoThreads(root);
    const path = place === "." ? root : join(root, place);
    await mkdir(path, { recursive: true });
    await rename(path, join(dir, "elsewhere"));
    await symlink(join(dir, "elsewhere"), path);
    const { store } = serve(root);
    const reading =
      place === "grants" ? store.grants() : place === "requests" ? store.claim("k", claim) : store.list();
    await expect(reading).rejects.toMatchObject({ name: "ThreadStoreError", code: "store_failed" });
  });
});

const claim = { threadId: "ses_1", requestDigest: "d" };
