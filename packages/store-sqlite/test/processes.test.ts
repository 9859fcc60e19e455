import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StoredSession } from "@harnesskit/graph";
import { describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { openSqliteStore } from "../src/index.ts";
import { openParts } from "./support/open-parts.ts";

const storeProcess = new URL("./fixtures/store-process.mjs", import.meta.url);
const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

/** Two processes that open the same new file at once. */
const startTwo = async () => {
  const directory = await temporaryDirectory();
  const file = join(directory.path, "store.db");
  const [one, other] = await Promise.all([
    startToldProcess(storeProcess, bundle, file),
    startToldProcess(storeProcess, bundle, file),
  ]);
  return {
    file,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
      await directory[Symbol.asyncDispose]();
    },
  };
};

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const from = (items: unknown, prefix: string) =>
  (items as string[]).filter((item) => item.startsWith(prefix));

describe("two processes with one file", () => {
  it("make it together, and lose no write under a lease or with an expected version", async () => {
    await using both = await startTwo();
    expect([both.one.ready, both.other.ready]).toEqual([{ id: 0 }, { id: 0 }]);
    const [a, b] = [names("a", 40), names("b", 40)];
    const done = await Promise.all([
      both.one.call("appendUnderLease", "s", a),
      both.other.call("appendUnderLease", "s", b),
    ]);
    expect(done.map(({ code }) => code)).toEqual([undefined, undefined]);
    const versions = await Promise.all([
      both.one.call("appendOptimistically", "t", a),
      both.other.call("appendOptimistically", "t", b),
    ]);
    const store = await openSqliteStore({ file: both.file });
    for (const session of ["s", "t"]) {
      const items = JSON.parse(JSON.stringify((await store.sessions.load(session))?.state.messages));
      expect([from(items, "a"), from(items, "b")]).toEqual([a, b]);
      expect(items).toHaveLength(80);
      expect((await both.one.call("load", session)).result).toEqual(items);
    }
    await store.close();
    const given = versions.map(({ result }) => result as number[]);
    for (const own of given) expect(own).toEqual([...own].sort((x, y) => x - y));
    expect(new Set(given.flat()).size).toBe(80);
  });

  it("never wait both for one signal", async () => {
    await using both = await startTwo();
    const rounds = await Promise.all(
      names("signal-", 30).map((signal) =>
        Promise.all([
          both.one.call("pause", `a-${signal}`, signal),
          both.other.call("pause", `b-${signal}`, signal),
        ]),
      ),
    );
    for (const answers of rounds) {
      expect(answers.map(({ code }) => code ?? "kept").sort()).toEqual(["kept", "signal_taken"]);
    }
    const store = await openSqliteStore({ file: both.file });
    expect(await store.suspensions.list({ status: "suspended" })).toHaveLength(30);
    await store.close();
  });

  it("have a lease one at a time, also when one of them is killed", async () => {
    await using both = await startTwo();
    const first = await both.one.call("acquire", "k", { ttlMs: 60_000 });
    expect(await both.other.call("acquire", "k", { ttlMs: 60_000 })).toMatchObject({ code: "lease_taken" });
    const second = both.other.call("acquire", "k", { ttlMs: 60_000, waitMs: 30_000 });
    await both.one.call("release", "k");
    expect((await second).result).toBeGreaterThan(first.result as number);
    await both.other.call("release", "k");
    const short = await both.one.call("acquire", "k", { ttlMs: 200 });
    await both.one.kill();
    const after = await both.other.call("acquire", "k", { ttlMs: 60_000, waitMs: 30_000 });
    expect(after.result).toBeGreaterThan(short.result as number);
  });
});

const committer = fileURLToPath(new URL("./fixtures/commit-forever.mjs", import.meta.url));

/** Kills a writer some time after a few of its commits; gives the number of the last one that it said was kept. */
const killWriter = async (file: string): Promise<number> => {
  const child = spawn(process.execPath, [committer, bundle, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const wanted = 5 + Math.floor(Math.random() * 40);
  let last = 0;
  let heard = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    last = Number(line);
    if (++heard !== wanted) return;
    // At any moment of the commits that follow.
    const until = performance.now() + Math.random() * 2;
    while (performance.now() < until);
    child.kill("SIGKILL");
  });
  await once(child, "close");
  expect(heard).toBeGreaterThanOrEqual(wanted);
  return last;
};

it("a writer that is killed loses nothing that was acknowledged, and leaves nothing half done", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "store.db");
  for (let round = 0; round < 5; round++) {
    const acknowledged = await killWriter(file);
    const opened = await openParts({ file });
    const session = (await opened.store.sessions.load("s")) as StoredSession;
    const count = session.state.count as number;
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    const messages = [...(session.state.messages as Iterable<{ number: number }>)];
    expect(messages.map(({ number }) => number)).toEqual(
      Array.from({ length: count }, (_, index) => index + 1),
    );
    expect((await opened.store.suspensions.load("i"))?.next_step).toBe(count);
    expect(opened.file.get("PRAGMA store.integrity_check")).toEqual(["ok"]);
    await opened.store.close();
  }
});
