import { readFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, type Start, startProcess } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { killServer, serveSocket, waitingThread } from "./support/socket-server.ts";

/** A thread whose turn waits for an answer, and a prompt that waits behind it. */
const queuedBehind = async (option: "--queue" | "--interrupt", prompt: string, start?: Start) => {
  const { server, cwd, threadId } = await waitingThread(undefined, start);
  const run = startHarness(
    ["run", "--attach", server.endpoint, "--thread", threadId, option, "--json", "--approve", "once", prompt],
    { cwd },
  );
  await run.reports(/queued at place 1 of ses_\w+ as turn_\w+/);
  return { server, cwd, threadId, run };
};

describe("harness run while a turn runs", () => {
  it("--queue waits for its turn, over kill -9 of the server, and runs once", async () => {
    const { server, cwd, threadId, run } = await queuedBehind(
      "--queue",
      "run the command: echo queued >> queued.txt",
      startProcess,
    );
    expect((await harness(["threads", "list", "--json"], { cwd })).stdout).toContain('"queued":1');
    await killServer(server);
    await run.reports(/the connection to the server is lost/);
    const again = await serveSocket(server.cwd);
    await run.reports(/connected to the server again/);
    const answer = await harness(["attach", again.endpoint, "--thread", threadId, "--approve", "once"], {
      cwd,
    });
    expect(answer.code).toBe(0);
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    const types = jsonLines(stdout).map(({ type }) => type);
    expect([types[0], types.at(-2), types.at(-1)]).toEqual(["turn.queued", "turn.completed", "result"]);
    expect(types.filter((type) => type === "turn.started")).toHaveLength(1);
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
    expect(await readFile(join(cwd, "queued.txt"), "utf8")).toBe("queued\n");
  });

  it("--interrupt cancels the turn that waits, and runs", async () => {
    const { cwd, threadId, run } = await queuedBehind("--interrupt", "list files");
    expect((await run.ended).code).toBe(0);
    const { stdout } = await harness(["threads", "show", threadId], { cwd });
    expect(stdout).toMatch(/cancelled[\s\S]*› list files[\s\S]*✓ done/);
    await expect(readFile(join(cwd, "ran.txt"), "utf8")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("takes the prompt back with Ctrl-C", async () => {
    const { cwd, run } = await queuedBehind("--queue", "list files");
    run.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    expect((await harness(["threads", "list", "--json"], { cwd })).stdout).not.toContain('"queued"');
  });

  it.each([
    [["run", "--queue", "x"], "--queue needs --attach and --thread"],
    [
      ["run", "--attach", "unix:s", "--thread", "ses_1", "--queue", "--interrupt", "x"],
      "cannot be used with",
    ],
  ])("%j is wrong usage", async (args, message) => {
    const end = await harness(args, { cwd: "/tmp" });
    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("harness threads --attach", () => {
  it("renames, archives, forks and searches at the server that writes the thread", async () => {
    const { server, cwd, threadId } = await waitingThread();
    const at = ["--attach", server.endpoint];
    const threads = (...args: string[]) => harness(["threads", ...args], { cwd });
    const locked = await threads("rename", threadId, "x");
    expect(locked).toMatchObject({ code: 1, stderr: expect.stringContaining("--attach unix:PATH") });
    expect((await threads("rename", threadId, "Night shift", ...at)).stdout).toBe(
      `Renamed ${threadId}  Night shift\n`,
    );
    const forked = JSON.parse((await threads("fork", threadId, "--json", ...at)).stdout).thread;
    expect(forked).toMatchObject({ title: "Night shift", forkedFrom: { threadId } });
    expect((await threads("archive", forked.threadId, ...at)).code).toBe(0);
    expect((await threads("list")).stdout).not.toContain(forked.threadId);
    expect((await threads("list", "--archived")).stdout).toContain(forked.threadId);
    const { hits } = JSON.parse((await threads("search", "--json", "NIGHT", ...at)).stdout);
    expect(hits).toMatchObject([{ thread: { threadId }, in: "title" }]);

    // A frame of 10 MB costs its sender the connection, and the server goes on.
    const socket = createConnection(server.endpoint.replace(/^unix:/, ""));
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}));
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "thread.rename",
      params: { threadId, title: "x".repeat(1e7) },
    });
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    socket.resume().write(Buffer.concat([head, Buffer.from(body)]));
    await closed;
    expect((await threads("rename", threadId, "Still here", ...at)).code).toBe(0);
  });
});
