import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, type Start, startProcess } from "./support/harness.ts";
import { harness, startAtTerminal, startHarness } from "./support/in-process.ts";
import {
  killServer,
  SocketClient,
  type SocketServer,
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
const restart = async (server: SocketServer, saysLost: readonly Promise<unknown>[], start?: Start) => {
  await killServer(server);
  await Promise.all(saysLost);
  return serveSocket(server.cwd, start);
};

describe("harness attach, when the server is killed while a turn waits and started again", () => {
  it("asks again, at No whatever was typed meanwhile, and one answer ends the turn for all, each event told once", async () => {
    const { server, cwd } = await waitingInProcess();
    const asked = startAtTerminal(["attach", server.endpoint], { cwd });
    const other = startAtTerminal(["attach", server.endpoint], { cwd });
    const watching = startHarness(["attach", server.endpoint, "--json"], { cwd, input: "" });
    await Promise.all([
      asked.sees(/Allow it\?/),
      other.sees(/Allow it\?/),
      watching.reports(/waits for an answer/),
    ]);
    const isLost = [
      asked.sees(lost).then(() => asked.write(yesOnce)),
      other.sees(lost),
      watching.reports(lost),
    ];
    await restart(server, isLost);
    const askedAgain = new RegExp(`${back.source}[\\s\\S]*bash: run this command[\\s\\S]*Allow it\\?`);
    await Promise.all([asked.sees(askedAgain), other.sees(askedAgain), watching.reports(back)]);
    asked.write("\r");
    const ends = await Promise.all([asked.ended, other.ended, watching.ended]);
    expect(ends.map(({ code }) => code)).toEqual([3, 3, 3]);
    await expect(readFile(join(cwd, "ran.txt"))).rejects.toMatchObject({ code: "ENOENT" });
    for (const { stdout } of ends.slice(0, 2)) {
      expect(count(stdout, /› .*run the command/)).toBe(1);
      expect(count(stdout, /rejected by you, in harness attach/)).toBe(1);
    }
    const seqs = seqsOf(watching);
    expect(seqs).toEqual(inOrder(seqs));
    const types = jsonLines(watching.stdout).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(["turn.completed", "result"]);
    expect(types.filter((type) => type === "approval.requested")).toHaveLength(1);
    expect(count(watching.stderr, lost)).toBe(1);
    expect(count(watching.stderr, back)).toBe(1);
  });

  it("is told of an answer that another client gave after it; --follow goes on with the turns of the next servers", async () => {
    const { server, cwd, threadId, requestId } = await waitingInProcess();
    const watching = startHarness(["attach", server.endpoint], { cwd, input: "" });
    const program = startHarness(["attach", server.endpoint, "--follow", "--json"], { cwd, input: "" });
    await Promise.all([watching.sees(/only watches/), program.sees(/approval\.requested/)]);
    const second = await restart(server, [watching.reports(lost), program.reports(lost)], startProcess);
    await Promise.all([watching.reports(back), program.reports(back)]);
    const client = await SocketClient.connect(second, "the other");
    await client.peer.request("approval.respond", { requestId, decision: "reject" });
    const { code, stdout } = await watching.ended;
    expect(code).toBe(3);
    expect(stdout).toContain("? rejected by the other");
    await program.sees(/turn\.completed/);
    const third = await restart(second, [program.reports(new RegExp(`(${lost.source}[\\s\\S]*){2}`))]);
    await program.reports(new RegExp(`(${back.source}[\\s\\S]*){2}`));
    const next = await SocketClient.connect(third);
    await next.startTurn(threadId, "read README.md");
    await program.sees(/(turn\.completed[\s\S]*){2}/);
    program.kill("SIGINT");
    const end = await program.ended;
    expect(end.code).toBe(130);
    const seqs = seqsOf(end);
    expect(seqs).toEqual(inOrder(seqs));
  });
});

const prompt = "run the command: echo ran >> ran.txt";

it("harness run --attach asks again after the restart of its server and goes on to the end", async () => {
  const server = await serveProcess();
  const program = startAtTerminal(["run", "--attach", server.endpoint, prompt], { cwd: server.cwd });
  await program.sees(/Allow it\?/);
  await restart(server, [program.sees(lost)]);
  await program.sees(new RegExp(`${back.source}[\\s\\S]*Allow it\\?`));
  program.write(yesOnce);
  const { code, stdout } = await program.ended;
  expect(code).toBe(0);
  expect(count(stdout, /approved once by you, in harness run/)).toBe(1);
  expect(await readFile(join(server.cwd, "ran.txt"), "utf8")).toBe("ran\n");
});

it("a server that does not come back is given up with exit code 4 after --retry-for, at once with Ctrl-C, and where it comes without the thread", async () => {
  const { server, cwd, threadId } = await waitingInProcess();
  const { endpoint } = server;
  const attach = (...args: string[]) =>
    startHarness(["attach", endpoint, "--thread", threadId, ...args], { cwd, input: "" });
  const [brief, none, quit, quitFollowing, waiting] = [
    attach("--json", "--retry-for", "1"),
    attach("--retry-for", "0"),
    attach(),
    attach("--follow"),
    attach(),
  ];
  const run = startAtTerminal(["run", "--attach", endpoint, "--retry-for", "1", prompt], { cwd });
  await Promise.all([
    run.sees(/Allow it\?/),
    brief.reports(/waits for an answer/),
    ...[none, quit, quitFollowing, waiting].map((program) => program.sees(/only watches/)),
  ]);
  await killServer(server);

  const atOnce = await none.ended;
  expect(atOnce.code).toBe(4);
  expect(atOnce.stderr).not.toMatch(lost);
  expect(atOnce.stderr).toContain("The server has ended, or the connection to it is lost\n  Start it again");
  for (const program of [quit, quitFollowing]) {
    await program.reports(lost);
    program.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`detached from ${threadId}; the server is not back\n`);
  }
  const { code, stdout, stderr } = await brief.ended;
  expect(code).toBe(4);
  expect(stderr).toContain("is lost; trying again for 1 s");
  expect(stderr).toContain("The server did not come back within 1 s\n");
  expect(stderr).toContain(`Start it again: harness serve --listen ${endpoint}\n`);
  expect(stderr).toContain(`Then go on: harness attach ${endpoint} --thread ${threadId}\n`);
  expect(jsonLines(stdout).at(-1)).toMatchObject({
    type: "result",
    data: { status: "error", code: "unavailable", exitCode: 4 },
  });
  const ran = await run.ended;
  expect(ran.code).toBe(4);
  expect(ran.stdout).toContain("The server did not come back within 1 s");
  expect(ran.stdout).toMatch(/Then go on:\s+harness attach unix:\S+ --thread ses_/);

  await waiting.reports(lost);
  expect((await harness(["threads", "delete", threadId, "--yes"], { cwd })).code).toBe(0);
  await serveSocket(cwd);
  const end = await waiting.ended;
  expect(end.code).toBe(1);
  expect(end.stderr).toContain(`The server has no thread ${threadId}`);
});
