import type { Socket } from "node:net";
import { digest, ProtocolError } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import { harness, startHarness } from "./support/in-process.ts";
import { strangeServer, strangeSocket, strangeThread, tellingServer } from "./support/strange-server.ts";

const { threadId } = strangeThread;
const evil = "E\u001b]0;title\u0007\u001b[2J\u202e\u009b\r\nharness: trust me\u0000";

/** Control and bidirectional characters in a text, but for the end of a line: what no terminal may get from a server. */
const unsafeIn = (text: string): string[] =>
  text.match(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu)?.filter((c) => c !== "\n") ?? [];

describe("harness attach, where something else listens", () => {
  it.each<[string, (socket: Socket) => void]>([
    ["a greeting of another protocol", (socket) => socket.end("SSH-2.0-x\r\n\u001b[2J")],
    [
      "an answer in HTTP",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ],
    ["a message that is no JSON", (socket) => socket.end(Buffer.from([0, 0, 0, 2, 0x1b, 0x5b]))],
    ["random bytes", (socket) => socket.end(Buffer.from([0, 255, 1, 254, 27, 91, 50, 74, 0, 0]))],
    ["the end", (socket) => socket.end()],
    ["a cut", (socket) => socket.destroy()],
  ])("is told %s: exit code 4, a sentence, and nothing of it in the terminal", async (_, greet) => {
    const { cwd, endpoint } = await strangeSocket(greet);
    const { code, stdout, stderr } = await harness(["attach", endpoint, "--retry-for", "0"], { cwd });
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/harness: (What listens on .* cannot be used|The server has ended)/);
    expect(stderr).toContain("harness serve");
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it.each(["attach", "run"])("%s is told of another version, and shows it safely", async (command) => {
    const { cwd, endpoint } = await strangeServer({
      initialize: () => ({
        version: `2.0.${evil}`,
        capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
      }),
    });
    const args = command === "attach" ? ["attach", endpoint] : ["run", "--attach", endpoint, "list files"];
    const { code, stderr } = await harness(args, { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain("the server speaks version 2.0.");
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it.each<[string, Parameters<typeof strangeServer>[0], number, string]>([
    ["a malformed list", { "thread.list": () => ({ threads: [{}] }) }, 4, "cannot be used: thread.list"],
    [
      "no extension",
      {
        initialize: () => ({
          version: "1.0.0",
          capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
        }),
      },
      4,
      'does not have the extension "subscribe"',
    ],
    [
      "a refusal",
      {
        "thread.list": () => {
          throw new ProtocolError(-32_000, evil);
        },
      },
      1,
      "The server refused: E",
    ],
  ])("is told %s", async (_, answers, code, text) => {
    const { cwd, endpoint } = await strangeServer(answers);
    const end = await harness(["attach", endpoint], { cwd });
    expect(end.code).toBe(code);
    expect(end.stderr).toContain(text);
    expect(unsafeIn(end.stderr)).toEqual([]);
  });

  it.each<[string, string[]]>([
    ["initialize", ["attach"]],
    ["thread.list", ["attach"]],
    ["thread.subscribe", ["attach"]],
    ["thread.create", ["run", "list files", "--attach"]],
  ])("that never answers %s, Ctrl-C ends %j at once", async (method, args) => {
    let asked = () => {};
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { cwd, endpoint } = await strangeServer({
      [method]: () => {
        asked();
        return new Promise(() => {});
      },
    });
    const program = startHarness([...args, endpoint], { cwd, input: "" });
    await wasAsked;
    const startedAtMs = performance.now();
    program.kill("SIGINT");
    expect((await program.ended).code).toBe(130);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  });

  it("that ends while the past is read, is a loss and no idle thread", async () => {
    const { cwd, endpoint } = await strangeServer({
      "thread.subscribe": () => ({ thread: strangeThread, lastSeq: 2 }),
      "thread.get": (_, peer) => peer.close(),
    });
    const { code, stdout, stderr } = await harness(["attach", endpoint, "--retry-for", "0"], { cwd });
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toContain("The server has ended, or the connection to it is lost");
  });

  it("that comes and goes, gives up after the stated time without filling the terminal", async () => {
    let connections = 0;
    const { cwd, endpoint } = await strangeServer({
      "thread.subscribe": (_, peer) => {
        connections++;
        setImmediate(() => void peer.close());
        return { thread: strangeThread, lastSeq: 0 };
      },
    });
    const args = ["attach", endpoint, "--follow", "--retry-for", "2"];
    const { code, stderr } = await harness(args, { cwd });
    expect(code).toBe(4);
    expect(connections).toBeGreaterThan(2);
    expect(stderr.match(/is lost/g)?.length).toBeLessThanOrEqual(3);
    expect(stderr).toContain("The server did not come back within 2 s");
  });
});

const ids = { threadId, turnId: "turn_1" };
const turn = { ...ids, status: "running", time: { started: 1 } };
const evilThread = { ...strangeThread, title: evil, directory: evil };

/** The log of a turn that means no good. */
const evilLog = (): [string, object][] => {
  const metadata = { tool: evil, input: { [evil]: evil }, digest: evil, reason: evil, preview: evil };
  const question = { itemId: "item_1", requestId: evil };
  const items = {
    tool_exec: { tool: evil, input: { command: evil }, status: "failed", error: evil },
    assistant_message: { text: evil },
    approval: { requestId: evil, permission: evil, metadata, decision: "once", resolvedBy: evil },
  };
  const log: [string, object][] = [
    ["turn.started", { turn }],
    [evil, {}],
    ["approval.requested", { ...question, permission: evil, metadata }],
    ["approval.resolved", { ...question, resolvedBy: evil, decision: "once" }],
    ...Object.entries(items).flatMap(([type, data]): [string, object][] => {
      const itemId = `${type}${evil}`;
      const item = { ...ids, itemId, type, data };
      return [
        ["item.started", { itemId, type, item }],
        ["item.delta", { itemId, type, delta: evil }],
        ["item.completed", { itemId, type, item }],
      ];
    }),
    [
      "turn.error",
      { turn: { ...turn, status: "error", time: { started: 1, completed: 2 } }, error: evil, code: evil },
    ],
  ];
  return log.map(([type, data]) => [type, { ...ids, ...data }]);
};

describe("harness attach, where the server means no good", () => {
  it.each([[[]], [["--json"]], [["--approve", "once"]]])(
    "passes no control character on, with %j",
    async (more) => {
      const answered: unknown[] = [];
      const { cwd, endpoint } = await tellingServer(evilLog(), {
        thread: evilThread,
        more: (tell) => tell("item.started", { itemId: 5 }),
        answers: {
          "thread.list": () => ({ threads: [evilThread, strangeThread] }),
          "approval.respond": ({ decision }) => {
            answered.push(decision);
            const data = { reason: "already_resolved", resolvedBy: evil };
            throw new ProtocolError(-32_004, evil, { data });
          },
        },
      });
      const program = startHarness(["attach", endpoint, "--follow", ...more], { cwd, input: "" });
      await program.sees(/failed:[\s\S]*failed:|"turn\.error"/);
      program.kill("SIGINT");
      const { code, stdout, stderr } = await program.ended;
      expect(code).toBe(130);
      expect(stdout).toMatch(/E(⟨U\+001B⟩|\\u001b)/);
      expect(unsafeIn(stdout)).toEqual([]);
      expect(unsafeIn(stderr)).toEqual([]);
      // A digest that does not fit is never allowed.
      expect(answered).not.toContain("once");
    },
  );

  it("tells few of its errors, of whatever kind they are", async () => {
    const count = 20;
    const metadata = { tool: "t", input: {}, digest: await digest({ tool: "t", input: { other: true } }) };
    const questions = Array.from({ length: count }, (_, index): [string, object] => [
      "approval.requested",
      { ...ids, itemId: `item_${index}`, requestId: `apr_${index}`, permission: "t", metadata },
    ]);
    const answered: unknown[] = [];
    const { cwd, endpoint } = await tellingServer([["turn.started", { ...ids, turn }], ...questions], {
      answers: {
        "approval.respond": ({ decision }) => {
          answered.push(decision);
          return { ok: true };
        },
      },
    });
    const program = startHarness(["attach", endpoint, "--follow", "--approve", "once"], { cwd, input: "" });
    await vi.waitFor(() => expect(answered).toEqual(Array(count).fill("reject")));
    program.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr.match(/harness attach: .*approval_digest_mismatch/g)).toHaveLength(5);
    expect(stderr).toContain(`harness attach: … and ${count - 5} more\n`);
  });
});
