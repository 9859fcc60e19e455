import { chmod, chown, lstat, mkdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Channel, ConnectionClosedError, createDeferred, InvalidArgumentError } from "@harnesskit/wire";
import { beforeEach, describe, expect, it } from "vitest";
import { linkedModule, record, rejection, temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import {
  AddressInUseError,
  createUnixListener,
  createUnixTransport,
  InsecureDirectoryError,
  NotASocketError,
  PathTooLongError,
} from "../src/index.ts";
import { ask, closing, echo, leaveStaleSocket, plainServer } from "./support.ts";

const maxPathBytes = process.platform === "linux" ? 107 : 103;

const modeOf = async (path: string): Promise<number> => (await lstat(path)).mode & 0o777;

/** A path of so many bytes, whose directory does not exist. */
const pathOfBytes = (root: string, bytes: number, name: string): string => {
  const fill = bytes - Buffer.byteLength(join(root, "/", name)) - 1;
  return join(root, "d".repeat(fill), name);
};

/** A directory of each test's own, and a path in it. */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  path = join(directory.path, "s");
  return () => directory[Symbol.asyncDispose]();
});

describe("the socket and its directory", () => {
  it("are made for this user only, whatever the umask", async () => {
    const path = join(directory.path, "made", "deeper", "s.sock");
    const umask = process.umask(0);
    try {
      const listener = createUnixListener({ path });
      await using _ = closing(listener);
      expect(listener.endpoint).toBeUndefined();
      await listener.listen(echo);
      expect(listener.endpoint).toBe(`unix:${path}`);
      expect(await modeOf(path)).toBe(0o600);
      expect(await modeOf(join(directory.path, "made", "deeper"))).toBe(0o700);
      expect(await modeOf(join(directory.path, "made"))).toBe(0o700);
      expect(await ask(createUnixTransport({ path }), ["hello"])).toEqual(["hello"]);
    } finally {
      process.umask(umask);
    }
    await expect(lstat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("takes a relative path, which stays the same when the working directory changes", async () => {
    const listener = createUnixListener({ path: relative(process.cwd(), path) });
    await using _ = closing(listener);
    const before = process.cwd();
    process.chdir("/");
    try {
      await listener.listen(echo);
    } finally {
      process.chdir(before);
    }
    expect(listener.endpoint).toBe(`unix:${path}`);
    expect(await directory.names()).toEqual(["s"]);
  });

  it.each([
    ["755", "chmod it to 0700 if it is yours alone, or make a directory of your own"],
    ["711", "chmod it to 0700 if it is yours alone, or make a directory of your own"],
    ["1777", "make a directory of your own"],
  ])("are refused where others can enter or write: mode %s", async (mode, advice) => {
    const open = join(directory.path, "open");
    await mkdir(open);
    await chmod(open, mode);
    const error = await rejection(createUnixListener({ path: join(open, "s") }).listen(echo));
    expect(error).toBeInstanceOf(InsecureDirectoryError);
    expect(error).toMatchObject({ code: "insecure_directory", directory: open });
    expect(error.message).toBe(
      `the socket's directory ${open} can be entered or written by other users (mode ${mode.padStart(4, "0")}): ${advice}`,
    );
  });

  it("are refused where the directory is a file", async () => {
    const file = join(directory.path, "file");
    await writeFile(file, "kept");
    const error = await rejection(createUnixListener({ path: join(file, "s") }).listen(echo));
    expect(error).toBeInstanceOf(InsecureDirectoryError);
    expect(error).toMatchObject({ code: "insecure_directory" });
    const below = await rejection(createUnixListener({ path: join(file, "d", "s") }).listen(echo));
    expect(below).toMatchObject({ code: "transport_failed", name: "TransportError" });
    expect(below.message).toContain("cannot be used (ENOTDIR)");
  });

  it("are refused where the directory belongs to another user", async ({ skip }) => {
    if (process.geteuid?.() !== 0) skip("only root can give a directory away");
    await chown(directory.path, 65_534, 65_534);
    const error = await rejection(createUnixListener({ path }).listen(echo));
    expect(error).toBeInstanceOf(InsecureDirectoryError);
    expect(error).toMatchObject({ code: "insecure_directory" });
    expect(error.message).toContain("belongs to another user");
  });
});

describe("what lies at the path", () => {
  it("is left alone when it is not a socket", async () => {
    const file = join(directory.path, "file");
    await writeFile(file, "kept");
    const folder = join(directory.path, "folder");
    await mkdir(folder);
    const stale = join(directory.path, "stale");
    await leaveStaleSocket(stale);
    const pointer = join(directory.path, "pointer");
    await symlink(stale, pointer);
    const before = await directory.names();
    for (const path of [file, folder, pointer]) {
      const error = await rejection(createUnixListener({ path }).listen(echo));
      expect(error).toBeInstanceOf(NotASocketError);
      expect(error).toMatchObject({ code: "not_a_socket", path });
    }
    expect(await directory.names()).toEqual(before);
    expect(await readFile(file, "utf8")).toBe("kept");
  });

  it("is left alone when a server has it, of whatever kind", async () => {
    const first = createUnixListener({ path });
    await using _ = closing(first);
    await first.listen(echo);
    const error = await rejection(createUnixListener({ path }).listen(echo));
    expect(error).toBeInstanceOf(AddressInUseError);
    expect(error).toMatchObject({ code: "address_in_use", endpoint: `unix:${path}` });
    expect(await ask(createUnixTransport({ path }), 1)).toBe(1);

    const foreign = join(directory.path, "foreign");
    const server = await plainServer(foreign, (socket) => socket.end());
    expect(await rejection(createUnixListener({ path: foreign }).listen(echo))).toMatchObject({
      code: "address_in_use",
    });
    server.close();
    expect(await directory.names()).toContain("s");
  });

  it("leaves the modules alone that are loaded after it is made and closed", async () => {
    await leaveStaleSocket(path);
    const load = await linkedModule(directory.path);
    const listener = createUnixListener({ path });
    await listener.listen(echo);
    await listener.close();
    expect(load()).toBe("found");
  });
});

describe("a lock that a process of another host left", () => {
  const lock = JSON.stringify({ pid: 999_999, host: "another-host", nonce: "left" });

  it("is taken over when it is old", async () => {
    const lockFile = join(directory.path, ".hk-lock");
    await writeFile(lockFile, lock, { mode: 0o600 });
    const before = new Date(Date.now() - 120_000);
    await utimes(lockFile, before, before);
    const listener = createUnixListener({ path });
    await using _ = closing(listener);
    await listener.listen(echo);
    expect(await directory.names()).toEqual(["s"]);
  });

  it("refuses while it is new, and the error names it", async () => {
    await writeFile(join(directory.path, ".hk-lock"), lock, { mode: 0o600 });
    const listener = createUnixListener({ path });
    await using _ = closing(listener);
    expect(await rejection(listener.listen(echo))).toMatchObject({
      code: "transport_failed",
      message: expect.stringMatching(
        /\.hk-lock is held by process 999999 on another-host\): remove the lock if that process is gone$/,
      ),
    });
  });
});

describe("a path that is too long", () => {
  it("is refused before anything is made, by server and client, in bytes", async () => {
    const wide = join(directory.path, "é".repeat(50));
    for (const path of [pathOfBytes(directory.path, maxPathBytes + 1, "harness.sock"), wide]) {
      const bytes = Buffer.byteLength(path);
      for (const create of [createUnixListener, createUnixTransport]) {
        let thrown: unknown;
        try {
          create({ path });
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(PathTooLongError);
        expect(thrown).toMatchObject({ code: "path_too_long", path, bytes, maxBytes: maxPathBytes });
        expect((thrown as Error).message).toContain(
          `needs ${bytes} bytes, and this system allows ${maxPathBytes}`,
        );
      }
    }
    expect(wide.length).toBeLessThan(maxPathBytes);
    expect(await directory.names()).toEqual([]);
  });

  it.each(["harness.sock", "socket"])("is not one of exactly the limit: %s", async (name) => {
    const long = pathOfBytes(directory.path, maxPathBytes, name);
    expect(Buffer.byteLength(long)).toBe(maxPathBytes);
    await mkdir(join(long, ".."), { mode: 0o700 });
    await leaveStaleSocket(path);
    await rename(path, long);
    const listener = createUnixListener({ path: long });
    await using _ = closing(listener);
    await listener.listen(echo);
    expect(await ask(createUnixTransport({ path: long }), "fits")).toBe("fits");
  });

  it("is one for a server too when no temporary name fits beside it", async () => {
    const path = pathOfBytes(directory.path, maxPathBytes, "s");
    expect(() => createUnixListener({ path })).toThrow(PathTooLongError);
    expect(() => createUnixListener({ path })).toThrow(`needs ${maxPathBytes + 5} bytes`);
    expect(() => createUnixTransport({ path })).not.toThrow();
  });

  it("has companions that cannot be paths at all", () => {
    for (const path of ["", "a\0b"]) {
      for (const create of [createUnixListener, createUnixTransport]) {
        expect(() => create({ path })).toThrow(InvalidArgumentError);
      }
    }
    expect(() => createUnixListener({ path: "/" })).toThrow(InvalidArgumentError);
  });
});

describe("a listener", () => {
  it("listens once, and not after the close", async () => {
    const listener = createUnixListener({ path });
    await listener.listen(echo);
    expect(await rejection(listener.listen(echo))).toMatchObject({ code: "invalid_argument" });
    expect(await ask(createUnixTransport({ path }), 1)).toBe(1);
    await Promise.all([listener.close(), listener.close()]);
    await listener.close();
    expect(await rejection(listener.listen(echo))).toMatchObject({ code: "invalid_argument" });

    const unused = createUnixListener({ path });
    await unused.close();
    expect(await rejection(unused.listen(echo))).toBeInstanceOf(InvalidArgumentError);
    expect(await directory.names()).toEqual([]);
  });

  it("that is closed while it opens gives everything up", async () => {
    const listener = createUnixListener({ path });
    const opening = rejection(listener.listen(echo));
    await listener.close();
    expect(await opening).toBeInstanceOf(ConnectionClosedError);
    expect(await opening).toMatchObject({ code: "connection_closed" });
    expect(await directory.names()).toEqual([]);
  });

  it("removes no other socket than its own", async () => {
    const first = createUnixListener({ path });
    await first.listen(echo);
    await rename(path, join(directory.path, "moved"));
    const second = createUnixListener({ path });
    await using _ = closing(second);
    await second.listen(echo);
    await first.close();
    expect(await ask(createUnixTransport({ path }), "second")).toBe("second");
    expect(await directory.names()).toEqual(["moved", "s"]);
  });

  it("says what it knows of the other side, and closes its channels with itself", async () => {
    const listener = createUnixListener({ path });
    const accepted = createDeferred<Channel<unknown>>();
    await listener.listen(accepted.resolve);
    const client = await createUnixTransport({ path }).connect();
    const server = await accepted.promise;
    expect(server.context).toEqual({ transport: "unix", path });
    expect(client.context).toEqual({ transport: "unix", path });
    expect(listener.connections).toBe(1);
    const log = record(client);
    await server.send("last");
    await listener.close();
    await client.closed;
    expect(log.messages).toEqual(["last"]);
    expect(log.closed).toEqual({});
    expect(await server.closed).toEqual({});
    expect(listener.connections).toBe(0);
    expect(await rejection(server.send(1))).toMatchObject({ code: "connection_closed" });
  });

  it("closes what exceeds its limit at once; there is room again when one leaves", async () => {
    const listener = createUnixListener({ path, maxConnections: 2 });
    await using _ = closing(listener);
    await listener.listen(echo);
    const transport = createUnixTransport({ path });
    const [first, second] = [await transport.connect(), await transport.connect()];
    record(first);
    record(second);
    await until(() => listener.connections === 2);
    for (let index = 0; index < 3; index++) {
      const extra = await transport.connect();
      record(extra);
      await extra.closed;
    }
    expect(listener.connections).toBe(2);
    await first.close();
    await until(() => listener.connections === 1);
    expect(await ask(transport, "room")).toBe("room");
    await second.close();
  });
});
