import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, type Running } from "./support/harness.ts";
import { startAtTerminal, startHarness } from "./support/in-process.ts";
import {
  killServer,
  SocketClient,
  serveProcess,
  serveSocket,
  waitingInProcess,
} from "./support/socket-server.ts";

const lost = /the connection to the server is lost; trying again for \d+ s/;
const back = /connected to the server again/;
const yesOnce = "\u001b[A\u001b[A\r";

const count = (text: string, pattern: RegExp): number => text.match(new RegExp(pattern, "g"))?.length ?? 0;

/** The numbers of the events in a program's JSON lines. */
const seqsOf = ({ stdout }: { stdout: string }): unknown[] =>
  jsonLines(stdout)
    .filter(({ type }) => type !== "result")
    .map(({ data }) => data.seq);

/** 1, 2, 3 up to the length of the list. */
const inOrder = (seqs: readonly unknown[]): number[] => seqs.map((_, index) => index + 1);

/** Kills the server and starts another one on the same path, once all of these say that it is lost. */
const restart = async (
  server: Awaited<ReturnType<typeof serveProcess>>,
  saysLost: readonly Promise<unknown>[],
) => {
  await killServer(server);
  await Promise.all(saysLost);
  return serveProcess(server.cwd);
};

describe("harness attach, when the server is killed while a turn waits and started again", () => {
  it("asks again, and one answer brings the turn to its end for all, each event told once", async () => {
    const { server, cwd } = await waitingInProcess();
    const asked = startAtTerminal(["attach", server.endpoint], { cwd });
    const other = startAtTerminal(["attach", server.endpoint], { cwd });
    const watching = startHarness(["attach", server.endpoint, "--json"], { cwd, input: "" });
    await Promise.all([
      asked.sees(/Allow it\?/),
      other.sees(/Allow it\?/),
      watching.reports(/waits for an answer/),
    ]);
    await restart(server, [asked.sees(lost), other.sees(lost), watching.reports(lost)]);
    const askedAgain = new RegExp(`${back.source}[\\s\\S]*bash: run this command[\\s\\S]*Allow it\\?`);
    await Promise.all([asked.sees(askedAgain), other.sees(askedAgain), watching.reports(back)]);
    asked.write(yesOnce);
    const ends = await Promise.all([asked.ended, other.ended, watching.ended]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
    for (const { stdout } of ends.slice(0, 2)) {
      expect(count(stdout, /› .*run the command/)).toBe(1);
      expect(count(stdout, /approved once by you, in harness attach/)).toBe(1);
      expect(count(stdout, /✓ done/)).toBe(1);
    }
    expect(count(other.stdout, /approved once by you, in harness attach/)).toBe(1);
    const seqs = seqsOf(watching);
    expect(seqs).toEqual(inOrder(seqs));
    const types = jsonLines(watching.stdout).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(["turn.completed", "result"]);
    expect(types.filter((type) => type === "approval.requested")).toHaveLength(1);
    expect(count(watching.stderr, lost)).toBe(1);
    expect(count(watching.stderr, back)).toBe(1);
  });

  it("puts the question again at No, whatever was typed while the server was away", async () => {
    const { server, cwd } = await waitingInProcess();
    const program = startAtTerminal(["attach", server.endpoint], { cwd });
    await program.sees(/Allow it\?/);
    await killServer(server);
    await program.sees(lost);
    program.write(yesOnce);
    await serveSocket(cwd);
    await program.sees(new RegExp(`${back.source}[\\s\\S]*Allow it\\?`));
    program.write("\r");
    const { code, stdout } = await program.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("rejected by harness attach");
    await expect(readFile(join(cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is told of an answer that another client gave after the restart", async () => {
    const { server, cwd, requestId } = await waitingInProcess();
    const watching = startHarness(["attach", server.endpoint], { cwd, input: "" });
    await watching.sees(/only watches/);
    const second = await restart(server, [watching.reports(lost)]);
    await watching.reports(back);
    const client = await SocketClient.connect(second, "the other");
    await client.peer.request("approval.respond", { requestId, decision: "reject" });
    const { code, stdout } = await watching.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("? rejected by the other");
  });

  it("--follow goes on with the turns of the next server, and the next one's", async () => {
    const { server, cwd, threadId, requestId, client } = await waitingInProcess();
    await client.peer.request("approval.respond", { requestId, decision: "once" });
    await client.notified("turn.completed");
    const program = startHarness(["attach", server.endpoint, "--follow", "--json"], { cwd, input: "" });
    await program.sees(/turn\.completed/);
    let current = server;
    for (const turns of [2, 3]) {
      const known = count(program.stderr, back);
      const away = new RegExp(`(${lost.source}[\\s\\S]*){${known + 1}}`);
      current = await restart(current, [program.reports(away)]);
      await program.reports(new RegExp(`(${back.source}[\\s\\S]*){${known + 1}}`));
      const next = await SocketClient.connect(current);
      await next.startTurn(threadId, "read README.md");
      await program.sees(new RegExp(`(turn\\.completed[\\s\\S]*){${turns}}`));
    }
    program.kill("SIGINT");
    const end = await program.ended;
    expect(end.code).toBe(130);
    const seqs = seqsOf(end);
    expect(seqs).toEqual(inOrder(seqs));
  });
});

describe("harness attach, when the server does not come back", () => {
  it("gives up after --retry-for with exit code 4, and says what to do", async () => {
    const { server, cwd, threadId } = await waitingInProcess();
    const program = startHarness(["attach", server.endpoint, "--json", "--retry-for", "1"], {
      cwd,
      input: "",
    });
    await program.reports(/waits for an answer/);
    await killServer(server);
    const { code, stdout, stderr } = await program.ended;
    expect(code).toBe(4);
    expect(stderr).toContain("is lost; trying again for 1 s");
    expect(stderr).toContain("The server did not come back within 1 s\n");
    expect(stderr).toContain(`Start it again: harness serve --listen ${server.endpoint}\n`);
    expect(stderr).toContain(`Then go on: harness attach ${server.endpoint} --thread ${threadId}\n`);
    expect(jsonLines(stdout).at(-1)).toMatchObject({
      type: "result",
      data: { status: "error", code: "unavailable", exitCode: 4 },
    });
  });

  it("with --retry-for 0 does not try", async () => {
    const { server, cwd } = await waitingInProcess();
    const program = startHarness(["attach", server.endpoint, "--retry-for", "0"], { cwd, input: "" });
    await program.sees(/only watches/);
    await killServer(server);
    const { code, stderr } = await program.ended;
    expect(code).toBe(4);
    expect(stderr).not.toMatch(lost);
    expect(stderr).toContain("The server has ended, or the connection to it is lost\n  Start it again");
  });

  it.each([[["attach"]], [["attach", "--follow"]]])("%j ends at once with Ctrl-C", async (args) => {
    const { server, cwd, threadId } = await waitingInProcess();
    const program = startHarness([...args, server.endpoint], { cwd, input: "" });
    await program.sees(/only watches/);
    await killServer(server);
    await program.reports(lost);
    program.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`detached from ${threadId}; the server is not back\n`);
  });

  it("says so when the server that comes back does not have the thread", async () => {
    const { server, cwd, threadId } = await waitingInProcess();
    const program = startHarness(["attach", server.endpoint], { cwd, input: "" });
    await program.sees(/only watches/);
    await killServer(server);
    await program.reports(lost);
    const { code } = await startHarness(["threads", "delete", threadId, "--yes"], { cwd, input: "" }).ended;
    expect(code).toBe(0);
    await serveSocket(cwd);
    const end = await program.ended;
    expect(end.code).toBe(1);
    expect(end.stderr).toContain(`The server has no thread ${threadId}`);
  });
});

describe("harness run --attach, when the server is killed", () => {
  const started = async (
    args: readonly string[] = [],
  ): Promise<[Awaited<ReturnType<typeof serveProcess>>, Running]> => {
    const server = await serveProcess();
    const prompt = "run the command: echo ran >> ran.txt";
    const program = startAtTerminal(["run", "--attach", server.endpoint, ...args, prompt], {
      cwd: server.cwd,
    });
    await program.sees(/Allow it\?/);
    return [server, program];
  };

  it("asks again after the restart and goes on to the end", async () => {
    const [server, program] = await started();
    await restart(server, [program.sees(lost)]);
    await program.sees(new RegExp(`${back.source}[\\s\\S]*Allow it\\?`));
    program.write(yesOnce);
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(count(stdout, /approved once by you, in harness run/)).toBe(1);
    expect(await readFile(join(server.cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("asks again at No, whatever was typed meanwhile", async () => {
    const [server, program] = await started();
    await killServer(server);
    await program.sees(lost);
    program.write(yesOnce);
    await serveSocket(server.cwd);
    await program.sees(new RegExp(`${back.source}[\\s\\S]*Allow it\\?`));
    program.write("\r");
    expect((await program.ended).code).toBe(3);
    await expect(readFile(join(server.cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("gives up with exit code 4 where it does not come back", async () => {
    const [server, program] = await started(["--retry-for", "1"]);
    await killServer(server);
    const { code, stdout } = await program.ended;
    expect(code).toBe(4);
    expect(stdout).toContain("The server did not come back within 1 s");
    expect(stdout).toMatch(/Then go on: harness attach unix:\S+ --thread ses_/);
  });
});
