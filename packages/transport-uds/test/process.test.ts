import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { record, rejection, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createUnixListener, createUnixTransport } from "../src/index.ts";
import { ask, closing, echo, leaveStaleSocket, startProcess } from "./support.ts";

const nobody = 65_534;
const isRoot = process.geteuid?.() === 0;

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

const startServer = (path: string, ...rest: string[]) => startProcess("server", [bundle, path, ...rest]);

describe("a server process", () => {
  it("ends by itself after the close, also with a connection open, and leaves no file", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    await using server = startServer(path);
    expect(await server.next()).toEqual({ endpoint: `unix:${path}` });
    const channel = await createUnixTransport({ path }).connect();
    const log = record(channel);
    await channel.send("hello");
    await log.untilMessages(1);
    expect(log.messages).toEqual([{ pid: server.pid, message: "hello" }]);
    server.tell("close");
    expect(await server.next()).toEqual({ closed: null });
    expect(await server.next()).toEqual({ ended: true });
    expect(await server.exit).toEqual([0, null]);
    expect(await channel.closed).toEqual({});
    expect(await directory.names()).toEqual([]);
  });

  it("that was killed leaves a stale socket, which the next one takes over", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    await using first = startServer(path);
    await first.next();
    const channel = await createUnixTransport({ path }).connect();
    record(channel);
    await first.kill();
    await channel.closed;
    expect(await directory.names()).toEqual(["s"]);
    expect(await rejection(createUnixTransport({ path }).connect())).toMatchObject({
      code: "transport_failed",
    });

    await using second = startServer(path);
    expect(await second.next()).toEqual({ endpoint: `unix:${path}` });
    expect(await ask(createUnixTransport({ path }), 2)).toEqual({ pid: second.pid, message: 2 });
    await using third = startServer(path);
    expect(await third.next()).toEqual({ error: "address_in_use" });
    expect(await ask(createUnixTransport({ path }), 3)).toEqual({ pid: second.pid, message: 3 });
    expect(await directory.names()).toEqual(["s"]);
  });
});

describe("many servers on one path at the same time", () => {
  const rounds = 5;

  const race = async (prepare: (path: string) => Promise<void>) => {
    await using directory = await temporaryDirectory();
    const contenders = Array.from({ length: 6 }, () => startProcess("contender", [bundle]));
    try {
      for (const contender of contenders) expect(await contender.next()).toBe("ready");
      for (let round = 0; round < rounds; round++) {
        const path = join(directory.path, `round-${round}`);
        await prepare(path);
        for (const contender of contenders) contender.tell(path);
        const outcomes = await Promise.all(contenders.map((contender) => contender.next()));
        const winners = outcomes.filter((outcome) => (outcome as { won?: true }).won);
        const losers = outcomes.filter((outcome) => !(outcome as { won?: true }).won);
        expect(winners).toHaveLength(1);
        for (const loser of losers) expect(loser).toMatchObject({ code: "address_in_use" });
        const { pid } = winners[0] as { pid: number };
        expect(await ask(createUnixTransport({ path }), "who")).toEqual({ pid });
        // Winners of earlier rounds gave their paths up.
        expect(await directory.names()).toEqual([`round-${round}`]);
      }
      for (const contender of contenders) contender.tell("close");
      for (const contender of contenders) expect(await contender.exit).toEqual([0, null]);
      expect(await directory.names()).toEqual([]);
    } finally {
      await Promise.all(contenders.map((contender) => contender.kill()));
    }
  };

  it("are one server and refusals when nothing lies there", () => race(async () => {}));

  it("are one server and refusals when a stale socket lies there", () => race(leaveStaleSocket));

  it("are one server and refusals when one was killed while it took the stale socket over", () =>
    race(async (path) => {
      await leaveStaleSocket(path);
      const owner = { pid: 2 ** 22 + 1, host: hostname(), nonce: "dead" };
      await writeFile(join(dirname(path), ".hk-lock"), JSON.stringify(owner), { mode: 0o600 });
    }));
});

describe("another user", () => {
  it("can never connect, neither before nor after the socket is in place", async ({ skip }) => {
    if (!isRoot) skip("only root can act as another user");
    await using directory = await temporaryDirectory();
    await chmod(directory.path, 0o755);
    const path = join(directory.path, "d", "s");
    await using knocker = startProcess("knock", [path, String(nobody)]);
    expect(await knocker.next()).toEqual({ first: "ENOENT" });
    const umask = process.umask(0);
    let accepted = 0;
    try {
      for (let round = 0; round < 100; round++) {
        const listener = createUnixListener({ path });
        await listener.listen((channel) => {
          accepted++;
          echo(channel);
        });
        await listener.close();
        await rm(join(directory.path, "d"), { recursive: true });
      }
      const listener = createUnixListener({ path });
      await using _ = closing(listener);
      await listener.listen(echo);
      await using late = startProcess("knock", [path, String(nobody)]);
      expect(await late.next()).toEqual({ first: "EACCES" });
      knocker.tell("stop");
      const counts = (await knocker.next()) as Record<string, number>;
      expect(Object.keys(counts).filter((code) => code !== "ENOENT" && code !== "EACCES")).toEqual([]);
      expect(counts.EACCES).toBeGreaterThan(0);
      expect(accepted).toBe(0);
    } finally {
      process.umask(umask);
    }
  });

  it("is kept out by the socket's own mode too", async ({ skip }) => {
    if (!isRoot) skip("only root can act as another user");
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const listener = createUnixListener({ path });
    await using _ = closing(listener);
    await listener.listen(echo);
    await chmod(directory.path, 0o755);
    await using knocker = startProcess("knock", [path, String(nobody)]);
    expect(await knocker.next()).toEqual({ first: "EACCES" });
    expect(listener.connections).toBe(0);
  });

  it("can run a server of its own, and is refused in a directory that is not its own", async ({ skip }) => {
    if (!isRoot) skip("only root can act as another user");
    await using directory = await temporaryDirectory();
    await chmod(directory.path, 0o755);
    const own = join(directory.path, "own");
    await mkdir(own, { mode: 0o700 });
    await chown(own, nobody, nobody);
    const path = join(own, "made", "s");
    await using server = startServer(path, String(nobody));
    expect(await server.next()).toEqual({ endpoint: `unix:${path}` });
    expect(await ask(createUnixTransport({ path }), 1)).toEqual({ pid: server.pid, message: 1 });

    await using foreign = startServer(join(directory.path, "s"), String(nobody));
    expect(await foreign.next()).toEqual({ error: "insecure_directory" });
    await using forbidden = startServer(join(directory.path, "new", "s"), String(nobody));
    expect(await forbidden.next()).toEqual({ error: "transport_failed" });
    expect(await directory.names()).toEqual(["own"]);
  });
});
