import { describe, expect, it } from "vitest";
import { createRedactor } from "../src/index.ts";
import { verifyAuditFile } from "../src/node/index.ts";
import { stillLog } from "./support/still-log.ts";

const soon = (id: string) => ({ action: "event.seen", request_id: id });

describe("an entry that is recorded soon", () => {
  it("is read when what the turn sends is sent, with the time of the call", async () => {
    await using log = await stillLog();
    const order: string[] = [];
    const entry = {
      ...soon("1"),
      get outcome() {
        order.push("read");
        return "ok" as const;
      },
    };
    log.sink.recordSoon?.(entry);
    queueMicrotask(() => order.push("sent"));
    log.sink.recordSoon?.(soon("2"));
    expect(order).toEqual([]);
    await new Promise(setImmediate);
    expect(order[0]).toBe("sent");
    expect(order).toContain("read");
    log.sink.record(soon("3"));
    await log.sink.close();
    const entries = await log.entries();
    expect(entries.map(({ request_id }) => request_id)).toEqual(["1", "2", "3"]);
    const [first = 0, second = 0, third = 0] = entries.map(({ time }) => Date.parse(time));
    expect([second - first, third - second]).toEqual([1, 1]);
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true });
  });

  it("keeps its place among all entries and actions", async () => {
    await using log = await stillLog();
    const { sink } = log;
    const first = sink.begin?.({ action: "a.begun", call_id: "c1" });
    sink.recordSoon?.(soon("1"));
    first?.end({ action: "a.ended", outcome: "ok" });
    sink.recordSoon?.(soon("2"));
    const second = sink.begin?.({ action: "b.begun", call_id: "c2" });
    second?.end({ action: "b.ended", outcome: "ok" });
    sink.recordSoon?.(soon("3"));
    sink.record(soon("4"));
    await sink.close();
    const told = (await log.entries()).map(({ action, request_id }) => request_id ?? action);
    expect(told).toEqual(["a.begun", "1", "a.ended", "2", "b.begun", "3", "4"]);
  });

  it.each([
    ["flush", (sink: { flush(): Promise<void> }) => sink.flush()],
    ["close", (sink: { close(): Promise<void> }) => sink.close()],
  ])("is on disk after a %s in its turn", async (_what, end) => {
    await using log = await stillLog();
    log.sink.recordSoon?.(soon("1"));
    await end(log.sink);
    expect(await log.entries()).toMatchObject([soon("1")]);
    await log.sink.close();
  });

  it("is redacted by what was secret when it was recorded", async () => {
    await using log = await stillLog();
    log.sink.addSecret("hunter2hunter2");
    log.sink.recordSoon?.({ ...soon("1"), details: { command: "login hunter2hunter2" } });
    log.sink.removeSecret("hunter2hunter2");
    await log.sink.close();
    expect(JSON.stringify(await log.entries())).not.toContain("hunter2");
  });

  it("is redacted by what was secret when it was recorded, also where another forgets the secret", async () => {
    const redactor = createRedactor();
    await using log = await stillLog({ redactor });
    redactor.addSecret("hunter2hunter2");
    log.sink.recordSoon?.({ ...soon("1"), details: { command: "login hunter2hunter2" } });
    redactor.removeSecret("hunter2hunter2");
    await log.sink.close();
    expect(JSON.stringify(await log.entries())).not.toContain("hunter2");
    // A sink that is closed is not asked any more.
    redactor.addSecret("hunter3hunter3");
    redactor.removeSecret("hunter3hunter3");
    expect(log.sink.dropped).toBe(0);
  });

  it("waits with a bounded number of others, and is counted where the log is closed", async () => {
    await using log = await stillLog();
    let read = 0;
    const entry = {
      action: "event.seen",
      get call_id() {
        read++;
        return "c1";
      },
    };
    for (let index = 0; index < 1023; index++) log.sink.recordSoon?.(entry);
    expect(read).toBe(0);
    log.sink.recordSoon?.(entry);
    expect(read).toBeGreaterThanOrEqual(1024);
    await log.sink.close();
    expect(await log.entries()).toHaveLength(1024);
    log.sink.recordSoon?.(entry);
    await new Promise(setImmediate);
    expect(log.sink.dropped).toBe(1);
  });
});
