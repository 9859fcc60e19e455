import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { decide } from "../decide/decide.ts";
import type { Explanation } from "../decide/explanation.ts";
import { LimitStore } from "../limits/limit-store.ts";
import type { Policy } from "../policy.ts";

/**
 * Decides one event without any effect, as if it were the first: the decision, the rule that made it, and why. Takes an
 * event that fits the protocol's `AhpEventSchema`. Never throws.
 */
export const checkPolicy = (policy: Policy, event: AhpEvent): Explanation =>
  decide(policy, event, { store: new LimitStore(1), nowMs: 0 });
