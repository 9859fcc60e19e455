import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { GraphError, type Resolution } from "@harnesskit/graph";
import { systemClock } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openSqliteStore } from "../src/index.ts";
import { durableRun } from "./support/durable-run.ts";

const script = fileURLToPath(new URL("./fixtures/run-and-die.mjs", import.meta.url));
const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

/** A process that dies at a step of the run, and this one, which goes on with it at once: the leases of a dead process are free. */
const dieAt = async (step: string) => {
  const directory = await temporaryDirectory();
  const [file, effects] = [join(directory.path, "store.db"), join(directory.path, "effects.txt")];
  const child = spawn(process.execPath, [script, bundle, file, effects, step], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  const store = await openSqliteStore({ file });
  const graph = durableRun(store, systemClock, effects);
  return {
    store,
    /** Undefined if it died. */
    commits: signal === "SIGKILL" ? undefined : Number(/^commits (\d+)$/m.exec(printed)?.[1]),
    recover: (resolve: Record<string, Resolution> = {}) => graph.invoke({ resumeInvocation: "r", resolve }),
    happened: async () => (await readFile(effects, "utf8").catch(() => "")).split("\n").filter(Boolean),
    async [Symbol.asyncDispose]() {
      await store.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

const whole = { outcome: "completed", state: { log: ["read", "pay", "ship"] } };

describe("a run of a graph whose process is killed", () => {
  it("in a node that may be repeated: another process repeats it and goes on", async () => {
    await using run = await dieAt("read");
    expect(await run.recover()).toMatchObject(whole);
    expect(await run.happened()).toEqual(["read", "read", "charge", "ship"]);
  });

  it("behind a recorded effect: another process goes on with its result, and repeats nothing", async () => {
    await using run = await dieAt("pay");
    expect(await run.recover()).toMatchObject(whole);
    expect(await run.happened()).toEqual(["read", "charge", "ship"]);
    expect(await run.store.runs.list()).toEqual([]);
  });

  it.each([
    ["charge", { effect: "charge" }, ["read", "charge", "ship"]],
    ["ship", { places: [{ key: "2", namespace: ["ship"] }] }, ["read", "charge", "ship"]],
  ])("in work that is not recorded: %s is ambiguous, and done once", async (step, data, expected) => {
    await using run = await dieAt(step);
    const before = await run.happened();
    const error = await run.recover().catch((cause: unknown) => cause);
    expect(GraphError.isInstance(error) && error.code).toBe("node_ambiguous");
    expect(error).toMatchObject({ data });
    expect(await run.happened()).toEqual(before);
    const [place] = (error as GraphError).data.places as { key: string }[];
    const result = step === "ship" ? { log: ["ship"] } : "charged";
    const { key = "" } = place ?? {};
    expect(await run.recover({ [key]: { kind: "done", result } })).toMatchObject(whole);
    expect(await run.happened()).toEqual(expected);
  });

  it("before or after any of its commits: it has not begun, goes on, is ambiguous, or has ended", async () => {
    await using unharmed = await dieAt("never");
    const { commits = 0 } = unharmed;
    expect(commits).toBeGreaterThan(4);
    const steps = Array.from({ length: commits }, (_, index) => [
      `before ${index + 1}`,
      `after ${index + 1}`,
    ]);
    for (const step of steps.flat()) {
      await using run = await dieAt(step);
      expect(run.commits).toBeUndefined();
      const error = await run.recover().then(
        () => undefined,
        (cause: unknown) => cause as GraphError,
      );
      const happened = await run.happened();
      for (const what of ["charge", "ship"]) {
        expect(happened.filter((line) => line === what).length, step).toBeLessThanOrEqual(1);
      }
      const log = [...(((await run.store.sessions.load("s"))?.state.log ?? []) as Iterable<string>)];
      if (error === undefined || step === `after ${commits}`) {
        expect(log, step).toEqual(whole.state.log);
        expect(
          happened.filter((line) => line !== "read"),
          step,
        ).toEqual(["charge", "ship"]);
        expect(await run.store.runs.list()).toEqual([]);
        continue;
      }
      expect(log, step).toEqual([]);
      const expected = step === "before 1" ? "run_record_invalid" : "node_ambiguous";
      expect(error.code, step).toBe(expected);
    }
  });
});
