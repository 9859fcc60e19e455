import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { openFileAuditSink, readAuditFile, verifyAuditFile } from "../src/node/index.ts";

const fixture = fileURLToPath(new URL("./fixtures/write-forever.mjs", import.meta.url));

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

const rounds = isNightly ? 20 : 2;

/** Runs a writer, kills it some time after its first flush, and gives the last entry that it said was on disk. */
const killWriter = async (path: string, maxFileBytes: number): Promise<number> => {
  const child = spawn(process.execPath, [fixture, bundle, path, String(maxFileBytes)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = 0;
  const flushes = 1 + Math.floor(Math.random() * 8);
  let heard = 0;
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    last = Number(line);
    heard++;
    if (heard !== flushes) return;
    // Between two flushes, at any moment of the next one.
    const until = performance.now() + Math.random() * 3;
    while (performance.now() < until);
    child.kill("SIGKILL");
  });
  await once(child, "close");
  expect(heard).toBeGreaterThanOrEqual(flushes);
  return last;
};

describe("a writer that is killed", () => {
  it.each([
    ["in one file", 64 * 1024 * 1024],
    ["while it rotates all the time", 65_536],
  ])(
    "leaves a log that can be continued and verified, with all that was flushed: %s",
    async (_, maxFileBytes) => {
      await using directory = await temporaryDirectory();
      const path = join(directory.path, "audit.jsonl");
      let flushed = 0;
      for (let round = 0; round < rounds; round++) {
        flushed = await killWriter(path, maxFileBytes);
        const sink = await openFileAuditSink({
          path,
          limits: { maxFileBytes, maxFiles: 1000 },
        });
        expect(sink.head.seq).toBeGreaterThan(flushed);
        await sink.close();
        const result = await verifyAuditFile(path, { expectedHead: sink.head });
        expect(result).toMatchObject({ ok: true, closed: true, start: { seq: 0 }, entries: sink.head.seq });
      }
      const resumed = [];
      for await (const { details } of readAuditFile(path, { action: "audit.resumed" })) resumed.push(details);
      // This process goes on after each kill, and the writer after each close but the last.
      expect(resumed).toHaveLength(2 * rounds - 1);
      expect(resumed.filter((details) => details?.was_closed === false)).toHaveLength(rounds);
      expect(await readdir(directory.path)).not.toContain("audit.jsonl.lock");
    },
  );
});
