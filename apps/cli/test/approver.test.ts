import type { ApprovalRequest } from "@harnesskit/thread-client";
import { describe, expect, it } from "vitest";
import { Approver } from "../src/run/approver.ts";
import { Timeline } from "../src/timeline/timeline.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";

const request = {
  threadId: "ses_1",
  turnId: "turn_1",
  itemId: "item_1",
  requestId: "req_1",
  metadata: { tool: "bash", input: { command: "ls" }, digest: "d" },
} as unknown as ApprovalRequest;

const watching = () => {
  const terminal = new FakeTerminal();
  const timeline = new Timeline({ terminal });
  return new Approver({ command: "test", mode: "watch", terminal, timeline, onCancel: () => {} });
};

describe("Approver", () => {
  it("gives no answer to a question that another client has answered before its turn came", async () => {
    const approver = watching();
    approver.reached("req_1");
    approver.resolved({ requestId: "req_1", resolvedBy: "other", decision: "once" });
    expect(await approver.answer(request, { signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("stops waiting for the timeline when the question is settled", async () => {
    const settled = new AbortController();
    const answer = watching().answer(request, { signal: settled.signal });
    settled.abort();
    expect(await answer).toBeUndefined();
  });
});
