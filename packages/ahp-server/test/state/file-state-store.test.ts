import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cpuTimer } from "../../../../scripts/lib/test-kit.ts";
import { type StateRecord, StateStoreError } from "../../src/index.ts";
import { type FileStateStoreOptions, openFileStateStore } from "../../src/node/index.ts";
import { run } from "../support/messages.ts";

const record = (second: number): StateRecord =>
  ({ kind: "run_lifecycle", owner: "", agent_id: "a", payload: run("executing", second) }) as StateRecord;

const makePath = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "harness-state-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, "runs.jsonl");
};

const open = (path: string, options: Partial<FileStateStoreOptions> = {}) => {
  const errors: StateStoreError[] = [];
  const store = openFileStateStore({ path, onError: (error) => errors.push(error), ...options });
  onTestFinished(() => store.close());
  return { store, errors };
};

const withThree = async (): Promise<string> => {
  const path = await makePath();
  const { store } = open(path);
  for (const second of [1, 2, 3]) store.append(record(second));
  void store.close();
  return path;
};

const refusal = (path: string, options: Partial<FileStateStoreOptions> = {}): unknown => {
  try {
    open(path, options);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("the state's file", () => {
  it("is for its user alone, as is the directory that is made for it", async () => {
    const path = join(await makePath(), "..", "made", "runs.jsonl");
    open(path).store.append(record(1));
    expect([(await stat(path)).mode & 0o777, (await stat(join(path, ".."))).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    chmodSync(path, 0o644);
    open(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("that ends in the middle of a line goes on behind the last whole one, without a report", async () => {
    const path = await withThree();
    truncateSync(path, (await stat(path)).size - 5);
    const { store, errors } = open(path);
    store.append(record(4));
    expect([...store.load()]).toEqual([record(1), record(2), record(4)]);
    expect([...open(path).store.load()]).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  it.each<[string, (line: string) => string]>([
    ["no JSON", () => "{"],
    ["JSON that is no record", () => '{"kind":"run_lifecycle","owner":"","agent_id":"a","payload":{}}'],
    ["an unknown kind", (line) => line.replace("run_lifecycle", "other")],
    ["an empty line", () => ""],
    ["zeros", (line) => "\0".repeat(line.length)],
  ])("that is damaged (%s) is reported and set aside, and the rest of it goes on", async (_what, spoil) => {
    const path = await withThree();
    const lines = (await readFile(path, "utf8")).split("\n");
    const spoilt = lines.map((line, index) => (index === 1 ? spoil(line) : line)).join("\n");
    await writeFile(path, spoilt);
    const { store, errors } = open(path);
    expect(errors).toMatchObject([
      {
        name: "StateStoreError",
        code: "state_damaged",
        message: expect.stringMatching(/^1 of 3 lines \(2\) .* runs\.jsonl\.damaged$/),
      },
    ]);
    expect(StateStoreError.isInstance(errors[0])).toBe(true);
    expect([...store.load()]).toEqual([record(1), record(3)]);
    expect(await readFile(`${path}.damaged`, "utf8")).toBe(spoilt);
    store.append(record(4));
    const again = open(path);
    expect([...again.store.load()]).toEqual([record(1), record(3), record(4)]);
    expect(again.errors).toEqual([]);
    expect((await readdir(join(path, ".."))).sort()).toEqual(["runs.jsonl", "runs.jsonl.damaged"]);
  });

  it("that is too large is set aside as a whole, and the state begins anew", async () => {
    const path = await withThree();
    const { store, errors } = open(path, { maxBytes: 100 });
    expect(errors).toMatchObject([{ code: "state_damaged" }]);
    expect([...store.load()]).toEqual([]);
    expect((await stat(`${path}.damaged`)).size).toBeGreaterThan(100);
  });

  it("without a line end in many megabytes is read in the time that it takes", async () => {
    const path = await makePath();
    await writeFile(path, "x".repeat(64_000_000));
    const spentMs = cpuTimer();
    const { store } = open(path);
    expect([...store.load()]).toEqual([]);
    expect(spentMs()).toBeLessThan(5_000);
  });

  it.each<[string, (path: string) => void]>([
    ["a symbolic link", (path) => symlinkSync("/dev/zero", path)],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a directory", (path) => mkdirSync(path)],
    [
      "a file with a second name",
      (path) => {
        appendFileSync(`${path}.other`, "");
        linkSync(`${path}.other`, path);
      },
    ],
  ])("is refused where it is %s", async (_what, make) => {
    const path = await makePath();
    make(path);
    expect(refusal(path)).toMatchObject({ name: "StateStoreError", code: "state_unreadable" });
  });

  it("is not opened with a limit that cannot be used", async () => {
    expect(refusal(await makePath(), { maxBytes: 0 })).toMatchObject({ code: "invalid_argument" });
  });

  it.skipIf(process.platform !== "linux")("on a full disk keeps what it had, and says so", async () => {
    const path = await withThree();
    // A limit on the size of files stands for a full disk: the write of the long record fails in its middle.
    const script = `
      process.on("SIGXFSZ", () => {});
      const { openFileStateStore } = await import(process.argv[1]);
      const store = openFileStateStore({ path: process.argv[2] });
      const record = (second, prompt) => ({ kind: "run_lifecycle", owner: "", agent_id: "a",
        payload: { run_id: "r", session_id: "s", status: "executing", updated_at: "2026-05-01T00:00:0" + second + "Z", prompt } });
      let code;
      try { store.append(record(4, "x".repeat(100_000))); } catch (error) { code = error.code; }
      store.append(record(5, "short"));
      console.log(code, [...store.load()].length);`;
    const { buildSourceBundle } = await import("../../../../scripts/lib/source-bundle.ts");
    const bundle = await buildSourceBundle(new URL("../bundle-entry.ts", import.meta.url));
    onTestFinished(() => void bundle.remove());
    const command = 'ulimit -f 16; exec "$0" --input-type=module -e "$1" "$2" "$3"';
    const shown = execFileSync("bash", ["-c", command, process.execPath, script, bundle.path, path], {
      encoding: "utf8",
    });
    expect(shown).toBe("state_not_kept 4\n");
    expect([...open(path).store.load()]).toMatchObject([{}, {}, {}, { payload: { prompt: "short" } }]);
  });
});
