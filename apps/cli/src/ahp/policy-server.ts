import { type AhpServer, type AhpServerOptions, createAhpServer } from "@harnesskit/ahp-server";
import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import {
  createPolicyAudit,
  createPolicyHarness,
  type Explanation,
  type Policy,
  PolicyError,
  type PolicyHarness,
} from "@harnesskit/policy";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { byWhom, describePolicyError, entryLine, eventLine, inShadow, policyWarnings } from "./event-text.ts";

/** What happens to the file of a policy. */
export interface PolicyFileEvents {
  /** @default the working directory */
  readonly workspace?: string | undefined;
  readonly onReload: (next: Policy) => void;
  readonly onError: (error: unknown) => void;
}

export interface PolicyServerOptions {
  readonly policy: Policy;
  /** Puts the policy's file in force when it changes. @default it does not change */
  readonly watch?:
    | ((policy: PolicyHarness, file: string, events: PolicyFileEvents) => { close(): unknown })
    | undefined;
  /** Awaited before an action is decided. */
  readonly beforeAction?: (() => Promise<void>) | undefined;
  readonly version: string;
  readonly audit: AuditSink;
  readonly recordContent: boolean;
  readonly say: (line: string) => void;
  readonly tell: (line: string | undefined) => void;
  readonly onError: (error: unknown) => void;
}

/** A harness under a policy. */
export interface PolicyServer {
  readonly harness: AhpServer;
  readonly about: string;
  close(): void;
}

const decisionLine = (explanation: Explanation, event: AhpEvent): string => {
  const { decision, rule } = explanation;
  const isToldOnly = rule === undefined && decision?.decision === "allow" && explanation.source === "default";
  const line = isToldOnly
    ? eventLine(event, decision.decision)
    : eventLine(event, decision && `${decision.decision} ${byWhom(explanation)}`);
  return line + inShadow(explanation);
};

const policyEntry = (policy: Policy): AuditEntryInput => ({
  action: "ahp.policy",
  outcome: "ok",
  details: {
    name: policy.name,
    file: policy.file,
    mode: policy.mode,
    rules: policy.rules.length,
    limits: policy.limits.length,
  },
});

const entryOfRefusal = (file: string, error: unknown): AuditEntryInput => {
  const problem = PolicyError.isInstance(error) ? error.problems[0] : undefined;
  return {
    action: "ahp.policy",
    outcome: "refused",
    details: {
      file,
      reason: PolicyError.isInstance(error) ? error.code : "unexpected",
      problem: problem?.message,
      line: problem?.line,
      column: problem?.column,
    },
  };
};

const aboutPolicy = ({ name, file, mode, rules, limits }: Policy): string => {
  const counts = `${rules.length} rules${limits.length === 0 ? "" : `, ${limits.length} limits`}`;
  return `policy ${name} (${counts}${mode === "shadow" ? ", in shadow" : ""}) from ${file}`;
};

/**
 * A harness that decides by a policy. A file is put in force when it changes; one that is broken is then reported, recorded
 * and left out, and the former stays in force.
 */
export const createPolicyServer = (options: PolicyServerOptions): PolicyServer => {
  const { policy: first, audit: sink, recordContent, say, tell, onError } = options;
  const audit = createPolicyAudit({ sink, recordContent });
  const policy = createPolicyHarness({
    policy: first,
    onDecision: (explanation, event) => {
      audit.onDecision(explanation, event);
      tell(decisionLine(explanation, event));
    },
    // The watch reports a refused file.
    onError: (error) => PolicyError.isInstance(error) || onError(error),
  });
  sink.record(policyEntry(first));
  for (const line of policyWarnings(first)) say(line);
  const harness = createAhpServer({
    name: "harness-ahp",
    version: options.version,
    handlers: handlersOf(policy, options),
    capabilities: policy.capabilities,
    audit: {
      ...audit,
      record(entry: AuditEntryInput) {
        sink.record(entry);
        tell(entryLine(entry));
      },
    },
    onError,
  });
  const watch = options.watch?.(policy, first.file, {
    onReload: (next) => {
      sink.record(policyEntry(next));
      say(`${aboutPolicy(next)} is in force now`);
      for (const line of policyWarnings(next)) say(line);
    },
    onError: (error) => {
      sink.record(entryOfRefusal(first.file, error));
      say(`${describePolicyError(error)}; the previous policy stays in force`);
    },
  });
  return { harness, about: aboutPolicy(first), close: () => void watch?.close() };
};

const handlersOf = (
  { handlers }: PolicyHarness,
  { beforeAction }: PolicyServerOptions,
): AhpServerOptions["handlers"] =>
  beforeAction === undefined
    ? handlers
    : {
        ...handlers,
        async pre_action(event) {
          await beforeAction();
          return handlers.pre_action(event);
        },
      };
