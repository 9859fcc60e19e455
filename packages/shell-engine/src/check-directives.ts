import {
  type ActionDirective,
  type ActionRegistry,
  fallbackTextOf,
  parseActionDirective,
  ShellCapability,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import { HandlerFault } from "./failure.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

/** The feature that a directive needs and the shell does not have. */
const lacking = (
  directive: ActionDirective,
  needed: string | undefined,
  held: ReadonlySet<string>,
): string | undefined => {
  if (needed !== undefined && !held.has(needed)) return needed;
  const asks = directive.requires_user_approval === true && !held.has(ShellCapability.Approval);
  return asks ? ShellCapability.Approval : undefined;
};

/** What stands for a directive that the shell cannot carry out: its text. Without one it cannot be left out in silence. */
const degraded = (directive: ActionDirective, capability: string): ActionDirective => {
  const message = fallbackTextOf(directive);
  if (message === undefined) {
    throw new ShellEngineError(
      ShellErrorCode.CapabilityRequired,
      "What was to be done needs an ability that this shell did not say it has.",
      { details: { capability, action_type: directive.action_type } },
    );
  }
  return { action_type: "render_message", risk_tier: "safe", payload: { message } };
};

/**
 * Checks what a handler returned against the schema, the registry and what the shell can do, and gives what is sent: each
 * with a risk tier, parallel only where that was negotiated. Throws a `HandlerFault` for what is no directive, and
 * `capability_required`.
 */
export const checkDirectives = (
  directives: readonly unknown[],
  registry: ActionRegistry,
  held: ReadonlySet<string>,
): ActionDirective[] =>
  directives.map((given, index) => {
    const parsed = parseActionDirective(given);
    if (!("data" in parsed)) {
      const at = parsed.path || "an object is expected";
      throw new HandlerFault("invalid_directive", `directive ${index} is none: ${at}`);
    }
    const directive = parsed.data;
    const problem = registry.problemOf(directive);
    if (problem)
      throw new HandlerFault(problem.code, `directive ${index}: ${problem.code} at ${problem.path}`);
    const known = registry.get(directive.action_type);
    const capability = lacking(directive, known?.capability, held);
    if (capability !== undefined) return degraded(directive, capability);
    directive.risk_tier ??= known?.defaultRisk;
    if (directive.execution === "parallel" && !held.has(ShellCapability.ParallelActions)) {
      directive.execution = "sequential";
    }
    return directive;
  });
