import { createRedactor, type Redactor } from "@harnesskit/audit";
import {
  type AhpEvent,
  type AhpEventType,
  ahpEvents,
  defaultHarnessCapabilities,
} from "@harnesskit/protocol/ahp";
import { type Clock, quietly, systemClock } from "@harnesskit/wire";
import { HandlerError } from "../handler-error.ts";
import type { AhpHandlers } from "../handlers.ts";
import { decide, isUnconcerned } from "./decide/decide.ts";
import { Explainer } from "./decide/explainer.ts";
import type { Explanation } from "./decide/explanation.ts";
import { LimitStore } from "./limits/limit-store.ts";
import { type Policy, partsOf } from "./policy.ts";

export interface PolicyHarnessOptions {
  readonly policy: Policy;
  /** The time of limits. @default the real time */
  readonly clock?: Clock;
  /** Takes secrets out of reasons. @default what has the shape of a secret is taken out */
  readonly redactor?: Pick<Redactor, "text">;
  /** Told of every decision and why it was made. What it throws goes to `onError`. @default ignored */
  readonly onDecision?: (explanation: Explanation, event: AhpEvent) => void;
  /** Told of rules that failed, of policies that were refused and of what `onDecision` threw. What it throws is ignored. @default ignored */
  readonly onError?: (error: unknown) => void;
}

export interface PolicyHarnessStats {
  readonly decisions: number;
  /** Rules and limits that failed, and so refused. */
  readonly failures: number;
  /** Policies that were put in force after the first. */
  readonly reloads: number;
  /** Policies that were refused, so that the former stayed. */
  readonly refusedReloads: number;
}

/** A policy in force. */
export interface PolicyHarness {
  /** What `createAhpServer` takes; they always decide by the policy that is in force when an event arrives. */
  readonly handlers: AhpHandlers;
  /** What `createAhpServer` may advertise: the protocol's own, and the events that the first policy decides. */
  readonly capabilities: readonly string[];
  /** The policy in force. */
  readonly policy: Policy;
  /** Decides an event as the handlers do, and counts it. Never throws. */
  decide(event: AhpEvent): Explanation;
  /**
   * Puts another policy in force: for every event from now on, as a decision is made at once. Limits of the same name
   * keep what they have counted.
   */
  replace(policy: Policy): void;
  /**
   * Makes a policy and puts it in force. What is thrown, such as a `PolicyError`, is counted, goes to `onError`
   * and is returned, and the former policy stays in force.
   */
  tryReplace(make: () => Policy): { readonly policy: Policy } | { readonly error: unknown };
  stats(): PolicyHarnessStats;
}

const types = Object.keys(ahpEvents) as AhpEventType[];

/**
 * Makes the handlers of a server from a policy. Gates are blocked and events with a decision of their own are refused
 * as not supported where the policy has no say; a rule that fails refuses, and names itself.
 */
export const createPolicyHarness = (options: PolicyHarnessOptions): PolicyHarness => {
  const { clock = systemClock, redactor = createRedactor(), onDecision, onError } = options;
  const explainer = new Explainer(redactor);
  const store = new LimitStore(partsOf(options.policy).bounds.maxLimitKeys);
  const stats = { decisions: 0, failures: 0, reloads: 0, refusedReloads: 0 };
  let current = options.policy;

  const report = (error: unknown): void => quietly(() => onError?.(error));

  const explain = (event: AhpEvent): Explanation => {
    const nowMs = current.limits.length === 0 ? 0 : clock.now();
    const explanation = decide(current, event, { store, nowMs }, explainer);
    stats.decisions++;
    if (explanation.error) {
      stats.failures++;
      report(explanation.error);
    }
    if (onDecision) quietly(() => onDecision(explanation, event), report);
    return explanation;
  };

  const handle = (event: AhpEvent): unknown => {
    if (!onDecision && isUnconcerned(current, event)) return undefined;
    const { decision } = explain(event);
    if (decision) return decision;
    throw new HandlerError(`Capability not supported: ${event.event_type}`, { code: "not_supported" });
  };

  const replace = (policy: Policy): void => {
    current = policy;
    store.keep(new Set(policy.limits));
    stats.reloads++;
  };

  return {
    handlers: Object.fromEntries(types.map((type) => [type, handle])) as AhpHandlers,
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
        report(error);
        return { error };
      }
    },
    stats: () => ({ ...stats }),
  };
};
