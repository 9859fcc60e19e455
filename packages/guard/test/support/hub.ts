import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { type ApprovalStore, createMemoryApprovalStore } from "@harnesskit/approvals";
import { createHub } from "@harnesskit/hub";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { createMemoryTimelineStore, type TimelineStore } from "@harnesskit/timeline";
import { onTestFinished } from "vitest";

export interface TestHub {
  readonly ahp: AhpClient;
  readonly approvals: ApprovalStore;
  readonly timeline: TimelineStore;
}

/** A hub in this process with a policy, and a client of it. */
export const testHub = async (policyText: string): Promise<TestHub> => {
  const [approvals, timeline] = [createMemoryApprovalStore(), createMemoryTimelineStore()];
  const policy = createPolicyHarness({ policy: parsePolicy(policyText) });
  const hub = createHub({ version: "1.0.0", policy, approvals, timeline });
  await hub.start();
  const ahp = createAhpClient({
    exchange: {
      handle: (message, { signal }) => hub.exchange.handle(message, { signal, principal: "test" }),
    },
    framework: "test",
    version: "1.0.0",
  });
  onTestFinished(async () => {
    await ahp.close();
    await hub.close();
    await Promise.all([approvals.close(), timeline.close()]);
  });
  await ahp.connect();
  return { ahp, approvals, timeline };
};
