import type { HarnessEndpoint } from "@harnesskit/ahp-client";
import type { JudgedCall, PromptGate, ToolGate, ToolOutcome, TurnObserver } from "@harnesskit/thread-server";
import { type Clock, quietly, systemClock } from "@harnesskit/wire";
import { HarnessLink, type HarnessLinkOptions } from "./harness-link.ts";
import { PolicyGate } from "./policy-gate.ts";
import { RunReports } from "./run-reports.ts";

/** What a thread server needs to work under a policy, and what ends it. */
export interface Supervision {
  /** As a thread server takes them. */
  readonly seams: {
    readonly gate: ToolGate;
    readonly promptGate: PromptGate;
    readonly observer: TurnObserver;
  };
  /** Settles when the harness can be asked, or is not there in time. */
  whenReady(): Promise<void>;
  /** Ends the sessions, sends what waits, and ends a harness that is a child. Idempotent. */
  close(): Promise<void>;
}

export interface SupervisionOptions extends Omit<HarnessLinkOptions, "endpoint"> {
  readonly endpoint: HarnessEndpoint;
  /** What the policy is called until it says so itself. @default as the harness */
  readonly policyName?: string | undefined;
  /** The agent that has the tools: the first part of their ids. */
  readonly toolAgent: string;
  readonly clock?: Clock;
}

/** Connects to the harness at once, and lets nothing happen that it has not allowed. */
export const createSupervision = (options: SupervisionOptions): Supervision => {
  const { policyName, toolAgent, clock = systemClock } = options;
  const link = new HarnessLink(options);
  const name = () => policyName ?? link.harnessName ?? "of an unknown harness";
  const gate = new PolicyGate({ link, name, toolAgent, clock });
  const reports = new RunReports({ link, clock });
  link.start();
  const seams = {
    gate: {
      before: (call: JudgedCall, options: { signal: AbortSignal }) => {
        // A report that cannot be made decides nothing.
        quietly(() => reports.callProposed(call));
        return gate.tools.before(call, options);
      },
      after: (call: JudgedCall, outcome: ToolOutcome) => {
        reports.callEnded(call, outcome);
        gate.report(call, outcome);
      },
    },
    promptGate: gate.prompts,
    observer: reports,
  };
  let closing: Promise<void> | undefined;
  return {
    seams,
    whenReady: () => link.whenReady(),
    close() {
      reports.end();
      closing ??= link.close();
      return closing;
    },
  };
};
