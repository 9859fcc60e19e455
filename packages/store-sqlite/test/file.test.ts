import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import {
  chmod,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { StoreError } from "@harnesskit/graph";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { toStoreError } from "../src/failures.ts";
import { openSqliteStore } from "../src/index.ts";
import { migrate, migrations, schemaVersion, versionAfter } from "../src/schema.ts";
import { StoreFile } from "../src/store-file.ts";
import { resolveOptions } from "../src/store-options.ts";
import { toQuery } from "../src/suspension-table.ts";
import { openParts } from "./support/open-parts.ts";
import { failed, outcomeOf } from "./support/outcome.ts";
import { added, pause, plain, whole } from "./support/samples.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("the file of a store", () => {
  it("is made with all files beside it for this user alone, in a directory that is made too", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "a", "b", "store.db");
    const store = await openSqliteStore({ file });
    await store.sessions.save(whole("s", { messages: [1] }));
    const names = readdirSync(join(directory.path, "a", "b"));
    expect(names).toEqual(["store.db", "store.db-shm", "store.db-wal"]);
    if (process.platform !== "win32") {
      expect(names.map((name) => modeOf(join(directory.path, "a", "b", name)))).toEqual([
        "600",
        "600",
        "600",
      ]);
      expect(modeOf(join(directory.path, "a"))).toBe("700");
    }
    await store.close();
  });

  it("is let go by close, with the log brought into it, so that another may be made in its place at once", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    for (const note of ["first", "second"]) {
      const store = await openSqliteStore({ file });
      expect(await store.sessions.list()).toEqual([]);
      await store.sessions.save(whole("s", { note }));
      await store.close();
      await store.close();
      expect(await readdir(directory.path)).toEqual(["store.db"]);
      await rename(file, join(directory.path, note));
      const moved = await openSqliteStore({ file: join(directory.path, note) });
      expect(plain(await moved.sessions.load("s"))).toEqual({ note });
      await moved.close();
      await rm(join(directory.path, note));
    }
    if (existsSync("/proc/self/fd")) {
      const links = await Promise.all(
        (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
      );
      expect(links.filter((target) => target.startsWith(directory.path))).toEqual([]);
    }
  });

  it("is taken from others' eyes where it was open to them", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    await (await openSqliteStore({ file })).close();
    await chmod(file, 0o644);
    await (await openSqliteStore({ file })).close();
    if (process.platform !== "win32") expect(modeOf(file)).toBe("600");
  });

  it("is refused as a directory, a link, a second name, read-only, or where others can write", async () => {
    await using directory = await temporaryDirectory();
    const path = (name: string) => join(directory.path, name);
    const opening = (name: string) => outcomeOf(openSqliteStore({ file: path(name) }));
    await (await openSqliteStore({ file: path("good.db") })).close();

    await mkdir(path("directory"));
    expect(await opening("directory")).toEqual(failed("unusable_path"));
    await symlink(path("good.db"), path("link"));
    expect(await opening("link")).toEqual(failed("insecure_path"));
    await writeFile(path("in-the-way"), "");
    expect(await opening("in-the-way/store.db")).toEqual(failed("unusable_path"));
    await chmod(path("good.db"), 0o400);
    expect(await opening("good.db")).toEqual(failed("read_only"));
    expect(modeOf(path("good.db"))).toBe("400");
    await chmod(path("good.db"), 0o622);
    expect(await opening("good.db")).toEqual(failed("insecure_path"));
    await chmod(path("good.db"), 0o600);
    await link(path("good.db"), path("second.db"));
    expect(await opening("good.db")).toEqual(failed("insecure_path"));
    await mkdir(path("shared"));
    await chmod(path("shared"), 0o1777);
    await expect(openSqliteStore({ file: path("shared/store.db") })).rejects.toMatchObject({
      ...failed("insecure_path"),
      message: expect.stringMatching(/\(mode 1777\): make a directory of your own$/u),
    });
    await chmod(path("shared"), 0o500);
    expect(await opening("shared/store.db")).toEqual(failed("unusable_path"));
    expect(await readdir(path("shared"))).toEqual([]);
  });

  it("is refused with a link or a FIFO beside it, where SQLite has files of its own", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    for (const suffix of ["-wal", "-shm", "-journal"]) {
      await promisify(execFile)("mkfifo", [`${file}${suffix}`]);
      expect(await outcomeOf(openSqliteStore({ file }))).toEqual(failed("unusable_path"));
      await rm(`${file}${suffix}`);
      await symlink("/dev/zero", `${file}${suffix}`);
      expect(await outcomeOf(openSqliteStore({ file }))).toEqual(failed("insecure_path"));
      await rm(`${file}${suffix}`);
    }
    await (await openSqliteStore({ file })).close();
  });

  it.runIf(process.platform === "linux")("is refused where the system makes no directories", async () => {
    expect(await outcomeOf(openSqliteStore({ file: "/proc/x/y.sqlite" }))).toEqual(failed("unusable_path"));
  });

  it("may be reached through a directory that is a link", async () => {
    await using directory = await temporaryDirectory();
    await mkdir(join(directory.path, "real"), { mode: 0o700 });
    await symlink(join(directory.path, "real"), join(directory.path, "link"));
    const [one, other] = [
      await openSqliteStore({ file: join(directory.path, "real", "store.db") }),
      await openSqliteStore({ file: join(directory.path, "link", "store.db") }),
    ];
    await one.sessions.save(whole("s", { note: "same" }));
    expect(plain(await other.sessions.load("s"))).toEqual({ note: "same" });
    await one.close();
    await other.close();
  });

  it("is refused where it is no database, another program's, or of a newer schema, and is not touched", async () => {
    await using directory = await temporaryDirectory();
    const path = (name: string) => join(directory.path, name);
    const opening = (name: string) => outcomeOf(openSqliteStore({ file: path(name) }));
    await writeFile(path("text"), "This is no database. ".repeat(400));
    expect(await opening("text")).toEqual(failed("not_a_database"));

    const foreign = new Database(path("foreign.db"));
    foreign.exec("CREATE TABLE notes (text TEXT)");
    foreign.close();
    await chmod(path("foreign.db"), 0o644);
    expect(await opening("foreign.db")).toEqual(failed("foreign_database"));
    if (process.platform !== "win32") expect(modeOf(path("foreign.db"))).toBe("644");

    const { store, file } = await openParts({ file: path("newer.db") });
    file.run("PRAGMA store.user_version = 99");
    await store.close();
    expect(await opening("newer.db")).toEqual(failed("newer_schema"));
    expect((await readdir(directory.path)).sort()).toEqual(["foreign.db", "newer.db", "text"]);
  });

  it("is refused where an earlier build has written it with another schema, and is not touched", async () => {
    await using directory = await temporaryDirectory();
    for (const version of [1, 2, 3]) {
      const path = join(directory.path, `${version}.db`);
      const old = new Database(path);
      old.exec("CREATE TABLE sessions (id TEXT PRIMARY KEY)");
      old.exec(`PRAGMA application_id = ${0x484b7374}; PRAGMA user_version = ${version}`);
      old.close();
      await chmod(path, 0o600);
      const before = await readFile(path);
      expect(await outcomeOf(openSqliteStore({ file: path }))).toEqual(failed("older_schema"));
      expect(await readFile(path)).toEqual(before);
    }
  });

  it("is no file in memory, no empty path, and no address", async () => {
    const invalid = { name: "InvalidArgumentError", code: "invalid_argument" };
    for (const file of ["", ":memory:", "a\0b"]) {
      expect(await outcomeOf(openSqliteStore({ file }))).toEqual(invalid);
    }
    await using directory = await temporaryDirectory();
    for (const name of ["file:x?mode=memory", "libsql:x", "http:x"]) {
      const store = await openSqliteStore({ file: join(directory.path, name) });
      await store.close();
      expect(await readdir(directory.path)).toContain(name);
    }
  });

  it("is refused for invalid options", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    const wrong = [
      { limits: { busyTimeoutMs: -1 } },
      { limits: { busyTimeoutMs: Number.NaN } },
      { limits: { maxFileBytes: 10 } },
      { limits: { maxValueLength: 2 ** 30 } },
      { limits: { maxCachedLength: -1 } },
      { limits: { maxEnded: Number.POSITIVE_INFINITY } },
      { limits: { leasePollMs: 0 } },
      { limits: { maxQueuedWrites: -1 } },
      { sync: "sometimes" as "all" },
    ];
    for (const options of wrong) {
      expect(await outcomeOf(openSqliteStore({ file, ...options }))).toEqual({
        name: "InvalidArgumentError",
        code: "invalid_argument",
      });
    }
    expect(await readdir(directory.path)).toEqual([]);
  });
});

describe("a file that goes bad while it is used", () => {
  it("is named as a full disk also where the file beside it cannot grow, which SQLite calls an I/O error", () => {
    const shmSize = Object.assign(new Error("disk I/O error"), {
      code: "SQLITE_IOERR_SHMSIZE",
      rawCode: 4874,
    });
    const error = toStoreError(shmSize);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: "store_full", reason: "disk_full", cause: shmSize });
    const read = Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_READ", rawCode: 266 });
    expect(toStoreError(read)).toMatchObject({ code: "store_failed", reason: "io_failed" });
  });

  it("is store_full where it may not grow any more; nothing is written, and what fits still is", async () => {
    await using directory = await temporaryDirectory();
    const store = await openSqliteStore({
      file: join(directory.path, "store.db"),
      limits: { maxFileBytes: 1_048_576 },
    });
    const text = "x".repeat(200_000);
    await store.sessions.save(whole("s", { messages: ["first"] }));
    const loaded = await store.sessions.load("s");
    const tooMuch = added(
      loaded as NonNullable<typeof loaded>,
      Array.from({ length: 10 }, () => text),
    );
    expect(await outcomeOf(store.sessions.save(tooMuch))).toEqual(failed("disk_full", "store_full"));
    expect(plain(await store.sessions.load("s"))).toEqual({ messages: ["first"] });
    await store.sessions.save(added(loaded as NonNullable<typeof loaded>, ["second"]));
    expect(plain(await store.sessions.load("s"))).toEqual({ messages: ["first", "second"] });
    await store.close();
  });

  it("is store_failed where it became read-only, was removed or was exchanged", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const { store, file } = await openParts({ file: path });
    await store.sessions.save(whole("s", { note: "kept" }));
    file.run("PRAGMA query_only = 1");
    expect(await outcomeOf(store.sessions.save(whole("s", { note: "lost" })))).toEqual(failed("read_only"));
    file.run("PRAGMA query_only = 0");
    await rename(path, `${path}.away`);
    expect(await outcomeOf(store.sessions.save(whole("s", { note: "lost" })))).toEqual(failed("moved"));
    await writeFile(path, "");
    expect(await outcomeOf(store.sessions.save(whole("s", { note: "lost" })))).toEqual(failed("moved"));
    await rename(`${path}.away`, path);
    await store.sessions.save(whole("s", { note: "later" }));
    expect(plain(await store.sessions.load("s"))).toEqual({ note: "later" });
    await store.close();
  });

  it("is corrupt where its pages were overwritten or cut off", async () => {
    await using directory = await temporaryDirectory();
    for (const damage of ["overwritten", "cut"]) {
      const path = join(directory.path, `${damage}.db`);
      const made = await openSqliteStore({ file: path });
      await made.sessions.save(
        whole("s", { messages: Array.from({ length: 3000 }, (_, n) => `message ${n}`) }),
      );
      await made.close();
      const { size } = statSync(path);
      if (damage === "cut") await truncate(path, size / 2);
      else {
        await using handle = await open(path, "r+");
        for (let at = 20_480; at < size; at += 4096) await handle.write(Buffer.alloc(600, 0xa5), 0, 600, at);
      }
      const store = await openSqliteStore({ file: path }).catch((error: unknown) => error);
      if (store instanceof Error) {
        expect(await outcomeOf(Promise.reject(store))).toEqual(failed("corrupt"));
        continue;
      }
      const opened = store as Awaited<ReturnType<typeof openSqliteStore>>;
      expect(await outcomeOf(opened.sessions.load("s"))).toEqual(failed("corrupt"));
      await opened.close();
    }
  });

  it("is corrupt where rows say what no store writes", async () => {
    await using directory = await temporaryDirectory();
    const { store, file } = await openParts({
      file: join(directory.path, "store.db"),
      limits: { maxCachedLength: 0 },
    });
    const damages = [
      "DELETE FROM session_items WHERE position = 1",
      "UPDATE session_items SET value = '1,2' WHERE position = 1",
      "UPDATE session_items SET value = '{' WHERE position = 1",
      "UPDATE session_fields SET value = 'note' WHERE name = 'note'",
    ];
    for (const damage of damages) {
      await store.sessions.save(whole("s", { note: "n", messages: [1, 2, 3] }));
      expect(await outcomeOf(store.sessions.load("s"))).toHaveProperty("value.session_id", "s");
      expect(file.run(damage)).toBe(1);
      expect(await outcomeOf(store.sessions.load("s"))).toEqual(failed("corrupt"));
    }
    await store.close();
  });
});

const later = [...migrations, "ALTER TABLE store.sessions ADD COLUMN note TEXT NOT NULL DEFAULT 'new'"];

describe("the version of the schema", () => {
  it("stands in the file, with a mark of whose file it is", async () => {
    await using directory = await temporaryDirectory();
    const { store, file } = await openParts({ file: join(directory.path, "store.db") });
    expect(file.get("PRAGMA store.user_version")).toEqual([versionAfter(migrations)]);
    expect(file.get("PRAGMA store.application_id")).toEqual([0x484b7374]);
    expect(file.get("PRAGMA store.journal_mode")).toEqual(["wal"]);
    await store.close();
  });

  it("is brought up to date with everything that was kept", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const before = await openSqliteStore({ file: path });
    await before.commit({ session: whole("s", { messages: [1, 2] }), suspension: pause("i") });
    await before.close();
    // Two at once, as two processes would.
    const options = resolveOptions({ file: path });
    const files = await Promise.all([StoreFile.open(options, later), StoreFile.open(options, later)]);
    for (const file of files) {
      expect(file.get("PRAGMA store.user_version")).toEqual([versionAfter(later)]);
      expect(file.all("SELECT session_id, note FROM sessions")).toEqual([["s", "new"]]);
      expect(file.all("SELECT value FROM session_items")).toEqual([["1"], ["2"]]);
      file.close(() => {});
    }
    expect(await outcomeOf(openSqliteStore({ file: path }))).toEqual(failed("newer_schema"));
  });

  it("is read in one view of the file, whatever another process does meanwhile", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const connect = () => {
      const connection = new Database(":memory:");
      connection.prepare("ATTACH ? AS store").run([path]);
      return {
        exec: (sql: string) => void connection.exec(sql),
        get: (sql: string) => connection.prepare(sql).raw().get([]) as [string | number] | undefined,
        rollBack: () => void (connection.inTransaction && connection.exec("ROLLBACK")),
      };
    };
    const [one, other] = [connect(), connect()];
    other.get("PRAGMA store.journal_mode = WAL");
    let reads = 0;
    const slow = {
      ...one,
      get: (sql: string) => {
        const value = one.get(sql);
        reads++;
        // Behind the second value, the mark of the file's owner, which is not there yet.
        if (reads === 2) migrate(other, migrations);
        return value;
      },
    };
    expect(schemaVersion(slow, migrations)).toBe(0);
    expect(reads).toBe(3);
    expect(schemaVersion(slow, migrations)).toBe(versionAfter(migrations));
  });

  it("stays where a step fails, and so does everything else", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const before = await openSqliteStore({ file: path });
    await before.sessions.save(whole("s", { messages: [1] }));
    await before.close();
    const broken = [...migrations, "DELETE FROM store.session_items; CREATE TABLE store.sessions (x)"];
    expect(await outcomeOf(StoreFile.open(resolveOptions({ file: path }), broken))).toEqual({
      name: "StoreError",
      code: "store_failed",
    });
    const store = await openSqliteStore({ file: path });
    expect(plain(await store.sessions.load("s"))).toEqual({ messages: [1] });
    await store.close();
  });

  it("can be brought up to date by a process that dies in the middle: a file without a schema is a new one", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "store.db");
    const half = new Database(path);
    half.exec("PRAGMA journal_mode = WAL");
    half.close();
    await chmod(path, 0o600);
    const store = await openSqliteStore({ file: path });
    expect(await store.sessions.list()).toEqual([]);
    await store.close();
  });
});

describe("what start-up asks for", () => {
  it.each([
    [{ status: "suspended" }, "suspensions_by_status (status=?)"],
    [{ isDelivered: false }, "suspensions_undelivered"],
    [{ signalId: "x" }, "suspensions_by_signal (signal_id=?)"],
    [{ signalId: "x", status: "suspended" }, "suspensions_by_signal (signal_id=?)"],
    [{ sessionId: "s", status: "suspended" }, "suspensions_by_session (session_id=?)"],
    [{ isDelivered: false, status: "completed" }, "suspensions_undelivered"],
    [{ sessionId: "s" }, "suspensions_by_session (session_id=?)"],
  ] as const)("is answered by an index: %j", async (filter, index) => {
    await using directory = await temporaryDirectory();
    const { store, file } = await openParts({ file: join(directory.path, "store.db") });
    const { sql, values } = toQuery(filter);
    const plan = file.all(`EXPLAIN QUERY PLAN ${sql}`, ...values);
    expect(String(plan[0]?.[3])).toContain(`USING INDEX ${index}`);
    await store.close();
  });
});
