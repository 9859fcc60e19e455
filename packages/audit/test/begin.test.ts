import { describe, expect, it } from "vitest";
import type { AuditSink } from "../src/index.ts";
import { verifyAuditFile } from "../src/node/index.ts";
import { stillLog } from "./support/still-log.ts";

const begun = { action: "tool.call", actor: { type: "agent", id: "a1" }, call_id: "c1", session_id: "s1" };
const ended = { action: "tool.result", outcome: "ok", duration_ms: 3 } as const;

describe("an action that begins and ends", () => {
  it("is one entry where the end comes before the beginning was written", async () => {
    await using log = await stillLog();
    const action = log.sink.begin(begun);
    action.end({ ...ended, details: { size_bytes: 4 } });
    await log.sink.close();
    const [entry, ...more] = await log.entries();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ ...begun, outcome: "ok", duration_ms: 3, details: { size_bytes: 4 } });
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true });
  });

  it.each([
    ["a flush", (sink: { flush(): Promise<void> }) => sink.flush()],
    [
      "another entry",
      async (sink: { record(entry: { action: string }): void }) => sink.record({ action: "x.y" }),
    ],
    [
      "the end of a secret",
      async (sink: Pick<AuditSink, "addSecret" | "removeSecret">) => {
        sink.addSecret("none");
        sink.removeSecret("none");
      },
    ],
  ])("has two entries with the same ids where %s comes between", async (_what, between) => {
    await using log = await stillLog();
    const action = log.sink.begin(begun);
    await between(log.sink);
    action.end(ended);
    await log.sink.close();
    const own = (await log.entries()).filter(({ call_id }) => call_id === "c1");
    expect(own).toMatchObject([begun, { ...begun, ...ended }]);
    expect(own[0]).not.toHaveProperty("outcome");
    expect(own[0]?.time).toBe("2023-11-14T22:13:20.001Z");
  });

  it("has its beginning on disk after flushIntervalMs, whether or not it ends", async () => {
    await using log = await stillLog({ flushIntervalMs: 1 });
    log.sink.begin(begun);
    await expect.poll(log.entries).toMatchObject([begun]);
    await log.sink.close();
    expect(await log.entries()).toHaveLength(1);
  });

  it("that is under way when the log closes leaves its beginning, and its end is dropped and counted", async () => {
    await using log = await stillLog();
    const action = log.sink.begin(begun);
    await log.sink.close();
    action.end(ended);
    const late = log.sink.begin(begun);
    late.end(ended);
    expect(await log.entries()).toMatchObject([begun]);
    expect(log.sink.dropped).toBe(3);
  });

  it("is not kept in memory by the thousand: the oldest beginnings are written when too many wait", async () => {
    await using log = await stillLog();
    const actions = Array.from({ length: 5000 }, (_, index) =>
      log.sink.begin({ ...begun, call_id: `c${index}` }),
    );
    for (const action of actions) action.end(ended);
    await log.sink.close();
    const entries = await log.entries();
    // 4096 were told when one more came; the other 904 ended in time.
    expect(entries).toHaveLength(4096 + 5000);
    const ends = entries.filter(({ outcome }) => outcome === "ok").map(({ call_id }) => call_id);
    expect(new Set(ends).size).toBe(5000);
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true });
  });

  it("keeps what it was begun with, whatever becomes of the caller's objects", async () => {
    await using log = await stillLog();
    const actor = { type: "agent", id: "a1" };
    const details = { size_bytes: 1 };
    log.sink.begin({ ...begun, actor, details });
    actor.id = "somebody else";
    details.size_bytes = 2;
    await log.sink.close();
    expect(await log.entries()).toMatchObject([{ ...begun, details: { size_bytes: 1 } }]);
  });

  it("tells of an entry that cannot be read at once, and of its end", async () => {
    await using log = await stillLog();
    const hostile = {
      ...begun,
      get tool_id(): string {
        throw new TypeError("no");
      },
    };
    const action = log.sink.begin(hostile);
    action.end(ended);
    await log.sink.close();
    expect(await log.entries()).toMatchObject([
      { action: "tool.call", marks: ["unreadable"] },
      { action: "tool.result", call_id: "c1", outcome: "ok" },
    ]);
  });

  it.each([undefined, null, 7, "text", { action: 4 }])("takes %j and does not throw", async (entry) => {
    await using log = await stillLog();
    const action = log.sink.begin(entry as never);
    action.end(ended);
    action.end(undefined as never);
    await log.sink.close();
    expect(await verifyAuditFile(log.path)).toMatchObject({ ok: true });
  });
});
