import {
  type ActionDirective,
  type ActionRegistry,
  type CapabilityDenial,
  fallbackTextOf,
  misfitTextOf,
  parseActionDirective,
  ShellCapability,
  withMessageText,
} from "@harnesskit/protocol/openharness";
import { displayText } from "@harnesskit/wire";
import { HandlerFault } from "./failure.ts";

export interface CheckedDirectives {
  readonly directives: ActionDirective[];
  /** Capabilities that a directive's type needs and the shell does not have, once each. */
  readonly denials: readonly CapabilityDenial[];
  /** What is wrong with those that were not valid. */
  readonly faults: readonly HandlerFault[];
}

const maxTypeLength = 100;

const denialOf = (capability: string): CapabilityDenial => ({
  capability,
  code: "not_declared",
  message: "The shell did not declare it: what needs it was replaced by text.",
});

const asText = (message: string): ActionDirective =>
  withMessageText({ action_type: "render_message", risk_tier: "safe", payload: { message } });

/** The text in the place of a directive that the shell cannot show: its own, or a sentence that names its type. */
const degraded = (directive: ActionDirective): ActionDirective => {
  const type = displayText(directive.action_type, { maxLength: maxTypeLength });
  return asText(
    fallbackTextOf(directive) ?? `The engine sent something that this shell cannot show (${type}).`,
  );
};

const readAt = (index: number, given: unknown, registry: ActionRegistry): ActionDirective => {
  const parsed = parseActionDirective(given);
  if (!("data" in parsed)) {
    const at = parsed.path || "an object is expected";
    throw new HandlerFault("invalid_directive", `directive ${index} is not valid: ${at}`);
  }
  const directive = parsed.data;
  // Types that are not registered are the deployment's own.
  const problem = registry.get(directive.action_type) && registry.problemOf(directive);
  if (problem) throw new HandlerFault(problem.code, `directive ${index}: ${problem.code} at ${problem.path}`);
  return directive;
};

/** The string that stands for a directive that is not valid. */
const misfitTextIn = (given: unknown): string | undefined => {
  const { payload } = (given ?? {}) as { readonly payload?: unknown };
  const parsed = parseActionDirective({ action_type: "invalid", payload });
  return "data" in parsed ? misfitTextOf(parsed.data) : undefined;
};

/**
 * Checks what a handler returned against the schema, the registry and what the shell can show, and gives what is sent: each
 * with a risk tier, parallel only where that was negotiated. A directive whose type needs a capability that the shell lacks
 * becomes text, and the capability is denied; one that is not valid becomes its text, or is left out; the others are sent.
 * Approval is the shell's duty (section 10), so that `requires_user_approval` changes nothing here. Throws a `HandlerFault` where
 * nothing of what was given can be sent.
 */
export const checkDirectives = (
  given: readonly unknown[],
  registry: ActionRegistry,
  held: ReadonlySet<string>,
): CheckedDirectives => {
  const denied = new Set<string>();
  const faults: HandlerFault[] = [];
  const toSend = (directive: ActionDirective): ActionDirective => {
    const known = registry.get(directive.action_type);
    const needed = known?.capability;
    if (needed !== undefined && !held.has(needed)) {
      denied.add(needed);
      return degraded(directive);
    }
    directive.risk_tier ??= known?.defaultRisk ?? "caution";
    if (directive.execution === "parallel" && !held.has(ShellCapability.ParallelActions)) {
      directive.execution = "sequential";
    }
    return withMessageText(directive);
  };
  const directives = [...given].flatMap((one, index) => {
    try {
      return [toSend(readAt(index, one, registry))];
    } catch (error) {
      if (!HandlerFault.isInstance(error)) throw error;
      faults.push(error);
      const text = misfitTextIn(one);
      return text === undefined ? [] : [asText(text)];
    }
  });
  if (directives.length === 0 && faults[0]) throw faults[0];
  return { directives, denials: [...denied].map(denialOf), faults };
};
