import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Tool } from "../src/index.ts";
import { createDirectoryResolver, createFileThreadStore } from "../src/node/index.ts";
import type { RawClient } from "./support/raw-client.ts";
import { ownDirectory, type ServeOptions, serve as serveAgent } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const input = { command: "npm test" };

/** A server on a workspace, with the key of a user. */
const serve = (workspace: string, user: string, options: ServeOptions = {}) =>
  serveAgent({
    root: join(workspace, ".harness"),
    key: join(user, "grants.key"),
    input,
    resolveDirectory: createDirectoryResolver(workspace),
    ...options,
  });

/** Answers the first question of a turn. */
const answer = async (client: RawClient, threadId: string, more: object) => {
  const { result } = await client.startTurn(threadId);
  const { params } = await client.notification(
    "approval.requested",
    ({ turnId }) => turnId === result.turnId,
  );
  await client.call("approval.respond", { requestId: params.requestId, ...more });
  await client.turnEnd(result.turnId);
};

const grantFiles = async (workspace: string) => {
  const directory = join(workspace, ".harness/grants");
  return (await readdir(directory)).map((name) => join(directory, name));
};

describe("a workspace that somebody else made", () => {
  it("cannot bring along answers that this user never gave", async () => {
    const dir = await ownDirectory();
    const [workspace, mallory, user] = ["workspace", "mallory", "user"].map((name) => join(dir, name));
    if (!workspace || !mallory || !user) return;
    await mkdir(workspace);
    const first = serve(workspace, mallory);
    await answer(first.client, await first.client.createThread(), { decision: "always", scope: "directory" });
    await first.server.close();
    expect(await grantFiles(workspace)).toHaveLength(1);
    for (const key of [user, mallory]) {
      const { server, client, tool } = serve(workspace, key);
      const { result } = await client.startTurn(await client.createThread());
      if (key === mallory) await client.turnEnd(result.turnId);
      else await client.notification("approval.requested");
      expect(tool.runs).toHaveLength(key === mallory ? 1 : 0);
      expect((await client.call("grant.list")).result.grants).toHaveLength(key === mallory ? 1 : 0);
      await server.close();
    }
  });

  it("cannot have the key of a user whose state directory is no absolute path", async () => {
    const dir = await ownDirectory();
    vi.stubEnv("XDG_STATE_HOME", relative(process.cwd(), dir)).stubEnv("HOME", join(dir, "home"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const store = createFileThreadStore({ root: join(dir, ".harness") });
    await store.answerSeal?.seal({});
    expect(await readdir(dir)).toEqual(["home"]);
  });

  it("cannot change an answer that was given", async () => {
    const dir = await ownDirectory();
    const workspace = join(dir, "workspace");
    await mkdir(workspace);
    const first = serve(workspace, dir);
    await answer(first.client, await first.client.createThread(), { decision: "always", scope: "thread" });
    const [file = ""] = await grantFiles(workspace);
    const text = await readFile(file, "utf8");
    for (const changed of [
      text.replace('"thread"', '"directory"'),
      "null",
      "[]",
      "{",
      text.replace("npm", "\\ud800"),
    ]) {
      await writeFile(file, changed);
      expect((await first.client.call("grant.list")).result.grants).toEqual([]);
    }
    await writeFile(file, text);
    expect((await first.client.call("grant.list")).result.grants).toHaveLength(1);
  });

  it("cannot move a thread out of the server's directory", async () => {
    const dir = await ownDirectory();
    const workspace = join(dir, "workspace");
    await mkdir(workspace);
    const first = serve(workspace, dir);
    const threadId = await first.client.createThread();
    await first.server.close();
    const meta = join(workspace, ".harness/threads", threadId, "meta.json");
    await writeFile(meta, (await readFile(meta, "utf8")).replace(workspace, "/"));
    const { client, tool } = serve(workspace, dir);
    expect((await client.startTurn(threadId)).error?.code).toBe(-32602);
    expect((await client.events(threadId)).map(({ type }) => type)).toEqual(["thread.created"]);
    expect(tool.runs).toEqual([]);
  });

  it("cannot have a thread in .git or .harness, where its tools would not see what is protected", async () => {
    const dir = await ownDirectory();
    const workspace = join(dir, "workspace");
    for (const name of [".git/hooks", ".GIT", "sub/.git", "sub/git", ".harness/agents"])
      await mkdir(join(workspace, name), { recursive: true });
    await symlink(join(workspace, ".git/hooks"), join(workspace, "innocent"));
    const { client, tool } = serve(workspace, dir);
    const create = (directory: string) => client.call("thread.create", { directory });
    for (const directory of [
      ".git",
      ".git/hooks",
      ".GIT",
      "sub/.git",
      ".harness",
      ".harness/agents",
      "innocent",
    ])
      expect((await create(directory)).error).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^The directory is in \.(git|harness), where no thread may be/),
      });
    const { threadId } = (await create("sub/git")).result.thread;
    await rm(join(workspace, "sub/git"), { recursive: true });
    await symlink("../.git", join(workspace, "sub/git"));
    expect((await client.startTurn(threadId)).error?.code).toBe(-32602);
    expect(tool.runs).toEqual([]);
  });

  it.each([
    ".harness",
    ".harness/threads",
    ".harness/threads/THREAD",
    ".harness/threads/THREAD/events.jsonl",
  ])("cannot lead what is written through a link at %s", async (place) => {
    const dir = await ownDirectory();
    const [workspace, outside] = [join(dir, "workspace"), join(dir, "outside")];
    await mkdir(workspace);
    const first = serve(workspace, dir);
    const threadId = await first.client.createThread();
    await first.server.close();
    const path = join(workspace, place.replace("THREAD", threadId));
    await rename(path, outside);
    const before = place.endsWith("jsonl")
      ? await readFile(outside, "utf8")
      : (await readdir(outside)).sort();
    await symlink(outside, path);
    const { client, tool } = serve(workspace, dir);
    const { error } = await client.startTurn(threadId);
    expect(error).toMatchObject({ code: -32603, data: { reason: "store_failed" } });
    const created = await client.call("thread.create", {});
    if (place === ".harness" || place === ".harness/threads") expect(created.error?.code).toBe(-32603);
    const after = place.endsWith("jsonl") ? await readFile(outside, "utf8") : (await readdir(outside)).sort();
    expect(after).toEqual(before);
    expect(tool.runs).toEqual([]);
  });

  it("is told not to commit its threads", async () => {
    const dir = await ownDirectory();
    const { client } = serve(dir, join(dir, "key"));
    await client.createThread();
    expect(await readFile(join(dir, ".harness/.gitignore"), "utf8")).toBe("*\n");
  });
});

describe("an always answer", () => {
  it("holds for nothing that was not shown: another preview asks again", async () => {
    const dir = await ownDirectory();
    const base = recordingTool("bash", "write");
    let preview = "-one\n+two";
    const edit: Tool = {
      ...base,
      prepare: async (given, scope) => ({ ...(await base.prepare(given, scope)), preview }),
    };
    const { client } = serve(dir, dir, { tools: [edit] });
    const threadId = await client.createThread();
    await answer(client, threadId, { decision: "always" });
    await client.runTurn(threadId);
    expect(base.runs).toHaveLength(2);
    preview = "-secret policy: one\n+secret policy: two";
    await answer(client, threadId, { decision: "reject" });
    expect(base.runs).toHaveLength(2);
  });
});

describe("thread.unsubscribe", () => {
  it("is -32001 for an unknown thread, and then mutes nothing", async () => {
    const dir = await ownDirectory();
    const { client } = serve(dir, dir);
    expect((await client.call("thread.unsubscribe", { threadId: "nope" })).error?.code).toBe(-32001);
    const threadId = await client.createThread();
    await client.startTurn(threadId);
    await client.notification("approval.requested");
  });
});
