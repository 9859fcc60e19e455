import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import type { TurnReport } from "../src/options.ts";
import { approval, historyOf, user } from "./support/graphs.ts";
import { failed } from "./support/refusal.ts";
import { watchedStore } from "./support/stores.ts";

describe("Harness modes", () => {
  it("gives every turn of a conversation a session", async () => {
    const store = watchedStore();
    const reports: TurnReport[] = [];
    const harness = createChatHarness({ graph: approval(), store, onTurn: (report) => reports.push(report) });
    await harness.send("s", user("chat"));
    await harness.send("s", user("pay"));
    await harness.signal({ signalId: "approve pay", payload: { approved: true } });
    expect(reports.map(({ session_id }) => session_id)).toEqual(["s", "s", "s"]);
    for (const id of ["", undefined, null, 7, {}, "x".repeat(1025)]) {
      const outcome = await harness.send(id as string, user("chat"));
      expect(failed(outcome)).toBe("harness_session_id_unresolved session_terminating");
    }
  });

  it("says on the outcome which way a turn took", async () => {
    const harness = createChatHarness({ graph: approval() });
    const path = async (text: string) => (await harness.send("s", user(text))).dispatch_path;
    expect([await path("pay"), await path("chat"), await path("pay")]).toEqual([
      "new_session",
      "existing_session",
      "existing_session",
    ]);
    const resumed = await harness.signal({ signalId: "approve pay" });
    expect(resumed).toMatchObject({ turn: { outcome: "completed", dispatch_path: "signal_resume" } });
    expect((await harness.pending("s")).undelivered).toMatchObject([
      { turn: { dispatch_path: "signal_resume" } },
    ]);
    expect(await harness.send("", user("chat"))).not.toHaveProperty("dispatch_path");
  });

  it("resumes by the invocation of the suspension, whose session it is", async () => {
    const reports: TurnReport[] = [];
    const store = watchedStore();
    const harness = createChatHarness({ graph: approval(), store, onTurn: (report) => reports.push(report) });
    const paused = await harness.send("s", user("pay"));
    const outcome = await harness.signal({ signalId: "approve pay", payload: { approved: true } });
    expect(paused).toMatchObject({ outcome: "suspended" });
    const id = paused.outcome === "suspended" ? paused.invocation_id : "";
    expect(outcome).toMatchObject({ outcome: "resumed", invocation_id: id, session_id: "s" });
    expect(reports.map(({ invocation_id }) => invocation_id)).toEqual([id, id]);
    expect(await historyOf(store, "s")).toEqual(["pay", "may I pay?", "done"]);
  });
});
