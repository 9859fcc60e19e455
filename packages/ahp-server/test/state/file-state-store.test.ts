import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";
import { type StateRecord, StateStoreError } from "../../src/index.ts";
import { openStateFile } from "../../src/node/file-state-store.ts";
import { openFileStateStore } from "../../src/node/index.ts";
import { run } from "../support/messages.ts";

const record = (second: number): StateRecord =>
  ({ kind: "run_lifecycle", owner: "", agent_id: "a", payload: run("executing", second) }) as StateRecord;

const makePath = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "harness-state-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, "runs.jsonl");
};

const open = (path: string) => {
  const store = openFileStateStore({ path });
  onTestFinished(() => store.close());
  return { store };
};

const withThree = async (): Promise<string> => {
  const path = await makePath();
  const { store } = open(path);
  for (const second of [1, 2, 3]) store.append(record(second));
  void store.close();
  return path;
};

const refusal = (path: string, maxBytes?: number): unknown => {
  try {
    void openStateFile(path, maxBytes).close();
  } catch (error) {
    expect(StateStoreError.isInstance(error)).toBe(true);
    return error;
  }
  return undefined;
};

describe("the state's file", () => {
  it.each<[string, (line: string) => string]>([
    ["no JSON", () => "{"],
    ["JSON that is no record", () => '{"kind":"run_lifecycle","owner":"","agent_id":"a","payload":{}}'],
    ["an unknown kind", (line) => line.replace("run_lifecycle", "other")],
    ["an empty line", () => ""],
  ])("that is damaged (%s) is named, and left as it is", async (_what, spoil) => {
    const path = await withThree();
    const lines = (await readFile(path, "utf8")).split("\n");
    const spoilt = lines.map((line, index) => (index === 1 ? spoil(line) : line)).join("\n");
    await writeFile(path, spoilt);
    expect(refusal(path)).toMatchObject({
      code: "state_damaged",
      message: expect.stringMatching(
        /^line 2 of the state's file runs\.jsonl .* move it away to begin anew$/,
      ),
    });
    expect(await readFile(path, "utf8")).toBe(spoilt);
    expect(await readdir(join(path, ".."))).toEqual(["runs.jsonl"]);
  });

  it("that is too large is left as it is", async () => {
    const path = await withThree();
    expect(refusal(path, 100)).toMatchObject({ code: "state_unreadable" });
    expect((await stat(path)).size).toBeGreaterThan(100);
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
    const bundle = await sourceBundle(new URL("../bundle-entry.ts", import.meta.url));
    const command = 'ulimit -f 16; exec "$0" --input-type=module -e "$1" "$2" "$3"';
    const shown = execFileSync("bash", ["-c", command, process.execPath, script, bundle, path], {
      encoding: "utf8",
    });
    expect(shown).toBe("state_not_kept 4\n");
    expect([...open(path).store.load()]).toMatchObject([{}, {}, {}, { payload: { prompt: "short" } }]);
  });
});
