import { describe, expect, it } from "vitest";
import { type AuditSink, createMemoryAuditSink } from "../src/index.ts";
import { verifyAuditFile } from "../src/node/index.ts";
import { stillLog } from "./support/still-log.ts";

/** An entry that records others when it is read for the first time. */
const recording = (sink: AuditSink, id: string, ...others: { action: string }[]) => ({
  action: "event.seen",
  get request_id() {
    for (const other of others.splice(0)) sink.record(other);
    return id;
  },
});

/** One whose reading records itself, and so on; a thousand times at most, so that a failure is one. */
const endless = (sink: AuditSink) => {
  let left = 1000;
  const entry = {
    action: "entry.endless",
    get request_id() {
      if (left-- > 0) sink.record(entry);
      return "again";
    },
  };
  return entry;
};

const told = (entries: readonly { action: string; request_id?: string | undefined }[]) =>
  entries.map(({ action, request_id }) => request_id ?? action);

describe("an entry whose reading records others", () => {
  it.each(["record", "begin"] as const)("has those behind it in a file, by %s", async (method) => {
    await using log = await stillLog();
    const { sink } = log;
    const entry = recording(sink, "1", { action: "key.read" }, { action: "key.used" });
    if (method === "begin") sink.begin?.(entry);
    else sink[method]?.(entry);
    sink.record({ action: "event.seen", request_id: "2" });
    await sink.close();
    const seen = told(await log.entries());
    expect(seen.toSorted()).toEqual(["1", "2", "key.read", "key.used"]);
    expect(seen.indexOf("key.used")).toBe(seen.indexOf("key.read") + 1);
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true, closed: true });
    expect(sink.dropped).toBe(0);
  });

  it("comes to an end where they record others again, which are counted", async () => {
    await using log = await stillLog();
    log.sink.record(endless(log.sink));
    await new Promise(setImmediate);
    await log.sink.close();
    const entries = told(await log.entries());
    expect(new Set(entries)).toEqual(new Set(["again"]));
    expect(entries.length).toBeLessThan(10);
    expect(log.sink.dropped).toBeGreaterThan(0);
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true, closed: true });
  });

  it("is not written where its reading closes the log, and is counted", async () => {
    await using log = await stillLog();
    const { sink } = log;
    let closing: Promise<void> | undefined;
    sink.record({
      action: "event.seen",
      get request_id() {
        closing ??= sink.close();
        return "1";
      },
    });
    await closing;
    expect(await log.entries()).toEqual([]);
    expect(sink.dropped).toBe(1);
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true, closed: true });
  });

  it("has them behind it in memory", () => {
    const sink = createMemoryAuditSink();
    sink.record(recording(sink, "1", { action: "key.read" }, endless(sink)));
    sink.record({ action: "event.seen", request_id: "2" });
    expect(told(sink.entries())).toEqual(["1", "key.read", "again", "2"]);
    expect(sink.entries().map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(sink.dropped).toBeGreaterThan(0);
  });
});
