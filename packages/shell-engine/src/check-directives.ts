import {
  type ActionDirective,
  type ActionRegistry,
  type CapabilityDenial,
  fallbackTextOf,
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
}

const maxTypeLength = 100;

const denialOf = (capability: string): CapabilityDenial => ({
  capability,
  code: "not_declared",
  message: "The shell did not declare it: what needs it was replaced by text.",
});

/** The text in the place of a directive that the shell cannot show: its own, or a sentence that names its type. */
const degraded = (directive: ActionDirective): ActionDirective => {
  const type = displayText(directive.action_type, { maxLength: maxTypeLength });
  const message =
    fallbackTextOf(directive) ?? `The engine sent something that this shell cannot show (${type}).`;
  return withMessageText({ action_type: "render_message", risk_tier: "safe", payload: { message } });
};

const parsedAt = (index: number, given: unknown, registry: ActionRegistry): ActionDirective => {
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

/**
 * Checks what a handler returned against the schema, the registry and what the shell can show, and gives what is sent: each
 * with a risk tier, parallel only where that was negotiated. A directive whose type needs a capability that the shell lacks
 * becomes text, and the capability is denied; the others are sent. Approval is the shell's duty (section 10), so that
 * `requires_user_approval` changes nothing here. Throws a `HandlerFault` for what is not a directive.
 */
export const checkDirectives = (
  given: readonly unknown[],
  registry: ActionRegistry,
  held: ReadonlySet<string>,
): CheckedDirectives => {
  const denied = new Set<string>();
  const directives = given.map((one, index) => {
    const directive = parsedAt(index, one, registry);
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
  });
  return { directives, denials: [...denied].map(denialOf) };
};
