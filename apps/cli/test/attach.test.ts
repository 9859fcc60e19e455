import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness, startAtTerminal, startHarness } from "./support/in-process.ts";
import { leftWaiting, SocketClient, serveSocket, waitingThread } from "./support/socket-server.ts";

describe("harness attach", () => {
  it("shows the past of the thread used last, answers what waits and ends with the turn", async () => {
    const { server, cwd, threadId } = await waitingThread();
    const end = await harness(["attach", server.endpoint, "--approve", "once"], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toContain("› run the command: echo ran >> ran.txt\n");
    expect(end.stdout).toContain("  ? approved once by harness attach --approve once\n");
    expect(end.stdout).toContain("✓ done");
    expect(end.stdout).toContain(
      `to go on: harness run --attach ${server.endpoint} --thread ${threadId} "PROMPT"\n`,
    );
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
    const again = await harness(["attach", server.endpoint], { cwd });
    expect(again.code).toBe(0);
    expect(again.stdout).toContain("✓ done");
  });

  it("refuses with --approve reject and exits 3", async () => {
    const { server, cwd } = await waitingThread();
    const end = await harness(["attach", server.endpoint, "--approve", "reject"], { cwd });
    expect(end.code).toBe(3);
    expect(end.stdout).toContain("rejected by harness attach --approve reject");
    await expect(readFile(join(cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("without a terminal only watches, says so, and is told who answered", async () => {
    const { server, cwd, client, requestId } = await waitingThread();
    const watching = startHarness(["attach", server.endpoint], { cwd, input: "" });
    await watching.sees(/This client only watches: there is no terminal/);
    await client.peer.request("approval.respond", { requestId, decision: "once" });
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("bash: run this command");
    expect(stdout).toContain("  ? approved once by starter\n");
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("asks in a terminal; the first answer wins and the others are told", async () => {
    const { server, cwd } = await waitingThread();
    const first = startAtTerminal(["attach", server.endpoint], { cwd });
    const second = startAtTerminal(["attach", server.endpoint], { cwd });
    await Promise.all([first.sees(/Allow it\?/), second.sees(/Allow it\?/)]);
    first.write("\u001b[A\u001b[A\r");
    expect((await first.ended).code).toBe(0);
    const { code, stdout } = await second.ended;
    expect(code).toBe(0);
    // The choices leave the terminal before the answer is shown, and take nothing else with them.
    const answered = stdout.lastIndexOf("approved once by you, in harness attach");
    expect(answered).toBeGreaterThan(stdout.lastIndexOf("\u001b[J"));
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("a question of a run that is answered elsewhere leaves nothing of its choices, and its answer stays", async () => {
    const { endpoint, cwd } = await serveSocket();
    const run = startAtTerminal(["run", "--attach", endpoint, "run the command: echo hi"], { cwd });
    await run.sees(/leave it waiting/);
    expect((await harness(["attach", endpoint, "--approve", "once"], { cwd })).code).toBe(0);
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    const answered = stdout.lastIndexOf("approved once by harness attach");
    expect(answered).toBeGreaterThan(stdout.lastIndexOf("\u001b[J"));
  });

  it("lists the threads where there are several, and takes the one of --thread", async () => {
    const server = await serveSocket();
    const client = await SocketClient.connect(server);
    const [one, two] = [await client.createThread("First"), await client.createThread("Second")];
    await client.startTurn(one, "read README.md");
    await client.notified("turn.completed");
    const { cwd } = server;
    const end = await harness(["attach", server.endpoint], { cwd });
    expect(end.stdout).toContain(`› ${one}`);
    expect(end.stdout).toContain(`  ${two}`);
    expect(end.stdout).toContain("● read README.md, 3 lines ✓");
    const other = await harness(["attach", server.endpoint, "--thread", two], { cwd });
    expect(other).toMatchObject({ code: 0 });
    expect(other.stdout).toBe("Nothing has run in this thread yet. To wait for it: --follow\n");
  });

  it("--json writes numbered events after --after and a result", async () => {
    const { server, cwd, threadId } = await waitingThread();
    const args = ["attach", server.endpoint, "--approve", "once", "--json"];
    const { code, stdout } = await harness([...args, "--after", "2"], { cwd });
    expect(code).toBe(0);
    const lines = jsonLines(stdout);
    const seqs = lines.slice(0, -1).map(({ data }) => data.seq as number);
    expect(seqs[0]).toBeGreaterThan(2);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    expect(lines.at(-2)).toMatchObject({ type: "turn.completed", data: { threadId } });
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      data: { threadId, status: "completed", exitCode: 0 },
    });
  });

  it("--follow goes on with later turns until Ctrl-C, which ends no turn", async () => {
    const { server, cwd, client, threadId, requestId } = await waitingThread();
    const program = startHarness(["attach", server.endpoint, "--follow", "--json"], { cwd, input: "" });
    await program.sees(/approval\.requested/);
    await client.peer.request("approval.respond", { requestId, decision: "once" });
    await program.sees(/turn\.completed/);
    await client.startTurn(threadId, "run the command: echo second");
    await program.sees(/approval\.requested[\s\S]*approval\.requested/);
    program.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`detached from ${threadId}; its turn goes on`);
    const { events } = (await client.peer.request("thread.get", { threadId })) as {
      events: { type: string }[];
    };
    expect(events.at(-1)?.type).toBe("approval.requested");
  });

  it.each([
    [["tcp:127.0.0.1:1"], 2, "An endpoint is unix:PATH"],
    [["unix:/"], 2, "names a directory"],
    [["unix:."], 2, "names a directory"],
    [["unix:some/.."], 2, "names a directory"],
    [["unix:~/x.sock"], 2, 'Write "unix:$HOME/x.sock"'],
    [["unix:none.sock"], 4, "does not exist: start its server"],
    [["unix:none.sock"], 4, "  Start one there: harness serve --listen unix:none.sock\n"],
    [["unix:README.md"], 4, "is a file of another kind"],
    [["unix:none.sock", "--after", "x"], 2, "must be a whole number from 0"],
    [["unix:none.sock", "--retry-for", "-1"], 2, "must be a whole number from 0"],
  ])("%j is refused with exit code %i", async (args, code, text) => {
    const cwd = await makeWorkspace();
    const end = await harness(["attach", ...args], { cwd });
    expect(end).toMatchObject({ code, stdout: "" });
    expect(end.stderr).toContain(text);
  });

  it("says when the server has no thread, or not this one", async () => {
    const { endpoint, cwd } = await serveSocket();
    const none = await harness(["attach", endpoint], { cwd });
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("The server has no thread yet");
    const other = await harness(["attach", endpoint, "--thread", "ses_none", "--json"], { cwd });
    expect(other.code).toBe(1);
    expect(other.stderr).toContain("The server has no thread ses_none");
    expect(jsonLines(other.stdout).at(-1)).toMatchObject({
      type: "result",
      data: { code: "thread_not_found", exitCode: 1 },
    });
  });
});

describe("harness run --attach", () => {
  it("uses the server that runs, and answers only for its own turn", async () => {
    const { server, cwd, client, threadId } = await waitingThread("echo other >> other.txt");
    const args = ["run", "--attach", server.endpoint, "--approve", "once"];
    const end = await harness([...args, "run the command: echo mine >> mine.txt"], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain(`to go on: harness run --attach ${server.endpoint} --thread ses_`);
    expect(await readFile(join(cwd, "mine.txt"), "utf8")).toBe("mine\n");
    await expect(readFile(join(cwd, "other.txt"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(client.notifications.filter(({ method }) => method === "approval.resolved")).toHaveLength(1);
    expect(
      client.notifications.find(({ method }) => method === "approval.resolved")?.params.threadId,
    ).not.toBe(threadId);
  });
});

describe("harness run --thread, where a turn waits from before", () => {
  const command = "echo ran >> ran.txt";

  it("leaves the question alone without a terminal, answers it, follows it to its end, then does what is asked", async () => {
    const { cwd, threadId } = await leftWaiting(command);
    const run = ["run", "--no-policy", "--thread", threadId];
    for (const prompt of [["list files"], []]) {
      const left = await harness([...run, ...prompt], { cwd });
      expect(left).toMatchObject({ code: 3, stdout: "" });
      expect(left.stderr).toContain("it waits for an answer, and there is no terminal to ask in");
      expect(left.stderr).toContain("--approve once");
    }
    await expect(readFile(join(cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
    const end = await harness(["run", "--thread", threadId, "--approve", "once", "read README.md"], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr.match(/✓ done/g)).toHaveLength(2);
    expect(end.stderr.indexOf(`● bash ${command}`)).toBeLessThan(end.stderr.indexOf("● read README.md"));
    // What the earlier turn answered is not the answer to this prompt.
    expect(end.stdout).toContain("`README.md` has 3 lines");
    expect(end.stdout).not.toContain("echo ran");
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("refuses it with --approve reject, and writes its events with --json", async () => {
    const { cwd, threadId } = await leftWaiting(command);
    const args = ["run", "--no-policy", "--thread", threadId, "--approve", "reject", "--json"];
    const reject = await harness(args, { cwd });
    expect(reject.code).toBe(3);
    expect(jsonLines(reject.stdout)[0]).toMatchObject({ type: "turn.started" });
    expect(jsonLines(reject.stdout).at(-1)).toMatchObject({
      type: "result",
      data: { threadId, exitCode: 3 },
    });
    await expect(readFile(join(cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("says when nothing waits", async () => {
    const cwd = await makeWorkspace();
    const first = await harness(["run", "--no-policy", "--json", "list files"], { cwd });
    const threadId = jsonLines(first.stdout).at(-1)?.data.threadId as string;
    for (const approve of [["--approve", "once"], []]) {
      const end = await harness(["run", "--no-policy", "--thread", threadId, ...approve], { cwd });
      expect(end.code).toBe(2);
      expect(end.stderr).toContain("No prompts are waiting in this thread");
    }
  });
});
