import { createRedactor, type Redactor } from "@harnesskit/audit";
import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  type DecisionFor,
  defaultHarnessCapabilities,
} from "@harnesskit/protocol/ahp";
import { type Clock, callSafely, HarnessError, systemClock } from "@harnesskit/wire";
import { decide } from "./decide/decide.ts";
import { Explainer } from "./decide/explainer.ts";
import type { Explanation } from "./decide/explanation.ts";
import { LimitStore } from "./limits/limit-store.ts";
import { checkPolicyHarnessOptions } from "./option-names.ts";
import { compiledOf, type Policy } from "./policy.ts";

export interface PolicyHarnessOptions {
  /** The policy in force until `replace`. */
  readonly policy: Policy;
  /** The time of limits. @default the real time */
  readonly clock?: Clock | undefined;
  /** Removes secrets from reasons. @default removes what has the shape of a secret */
  readonly redactor?: Pick<Redactor, "text"> | undefined;
  /** Receives every decision with its explanation. What it throws goes to `onError`. @default no report */
  readonly onDecision?: ((explanation: Explanation, event: AhpEvent) => void) | undefined;
  /** Receives failures of rules, refused policies and what `onDecision` threw. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown, context: PolicyErrorContext) => void) | undefined;
}

/** What the harness did when the error occurred. */
export interface PolicyErrorContext {
  readonly during: "decision" | "on_decision" | "replace";
}

export interface PolicyHarnessStats {
  readonly decisions: number;
  /** Rules and limits that failed, and so refused. */
  readonly failures: number;
  /** Policies that came into force after the first. */
  readonly reloads: number;
  /** Policies that were refused; the former stayed in force. */
  readonly refusedReloads: number;
}

/** A function for each type of event, as `createAhpServer` takes them. */
export type PolicyHandlers = {
  readonly [T in AhpEventType]: (
    event: Omit<AhpEvent, "payload"> & { readonly payload: unknown },
  ) => DecisionFor<T>;
};

/** A policy in force. */
export interface PolicyHarness {
  /** For `createAhpServer`; they decide by the policy that is in force when an event arrives. */
  readonly handlers: PolicyHandlers;
  /** Capabilities for `createAhpServer`: the protocol's own, and the events that the first policy decides. */
  readonly capabilities: readonly string[];
  /** The policy in force. */
  readonly policy: Policy;
  /** Decides an event as the handlers do, and counts it. Never throws. */
  decide(event: AhpEvent): Explanation;
  /** Puts another policy in force, for every event from now on. Limits of the same name keep their counts. */
  replace(policy: Policy): void;
  /**
   * Makes a policy and puts it in force. What `make` throws, such as a `PolicyError`, is counted, reported to `onError` and
   * returned, and the former policy stays in force.
   */
  tryReplace(make: () => Policy): { readonly policy: Policy } | { readonly error: unknown };
  stats(): PolicyHarnessStats;
}

/** A `HandlerError` of ahp-server, which recognises it by its name: the agent gets its message and its code. */
class NotSupportedError extends HarnessError {
  static override readonly brand = "HandlerError";

  constructor(type: AhpEventType) {
    super("not_supported", `Capability not supported: ${type}`);
  }
}

const types = Object.keys(ahpEvents) as AhpEventType[];

/**
 * Makes the handlers of a server from a policy. Without a rule, gates are blocked, and events with a decision of their own
 * are refused as not supported; a rule that fails refuses, and names itself.
 */
export const createPolicyHarness = (options: PolicyHarnessOptions): PolicyHarness => {
  checkPolicyHarnessOptions(options);
  const { clock = systemClock, redactor = createRedactor(), onDecision, onError } = options;
  const explainer = new Explainer(redactor);
  const store = new LimitStore(compiledOf(options.policy).bounds.maxLimitKeys);
  const stats = { decisions: 0, failures: 0, reloads: 0, refusedReloads: 0 };
  let current = options.policy;

  const report = (error: unknown, during: PolicyErrorContext["during"]): void =>
    callSafely(() => onError?.(error, { during }));

  const explain = (event: AhpEvent): Explanation => {
    const explanation = decide(current, event, { store, nowMs: clock.now() }, explainer);
    stats.decisions++;
    if (explanation.error) {
      stats.failures++;
      report(explanation.error, "decision");
    }
    callSafely(
      () => onDecision?.(explanation, event),
      (error) => report(error, "on_decision"),
    );
    return explanation;
  };

  const handle = (event: AhpEvent): unknown => {
    const { decision } = explain(event);
    if (!decision) throw new NotSupportedError(event.event_type);
    return decision;
  };

  const replace = (policy: Policy): void => {
    current = policy;
    store.keep(new Set(policy.limits));
    stats.reloads++;
  };

  return {
    handlers: Object.fromEntries(types.map((type) => [type, handle])) as PolicyHandlers,
    capabilities: [
      ...defaultHarnessCapabilities.filter((name) => name !== "query"),
      ...current.decides.filter((type) => ahpEvents[type].specialised),
    ],
    get policy() {
      return current;
    },
    decide: explain,
    replace,
    tryReplace(make) {
      try {
        const policy = make();
        replace(policy);
        return { policy };
      } catch (error) {
        stats.refusedReloads++;
        report(error, "replace");
        return { error };
      }
    },
    stats: () => ({ ...stats }),
  };
};
