import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { Expressions } from "./cel/expressions.ts";
import type { Matches } from "./cel/patterns.ts";
import { mayChangeFiles } from "./decide/changes-files.ts";
import type { Defaults, PolicyFile, Then } from "./file/policy-schema.ts";
import type { PolicySource } from "./file/policy-source.ts";
import { compileLimit } from "./limits/limit.ts";
import type { ParsePolicyOptions } from "./parse-policy.ts";
import { createPolicy, type Policy } from "./policy.ts";
import { policyLimits } from "./policy-limits.ts";
import { createCandidates } from "./rules/candidates.ts";
import type { CompileParts } from "./rules/condition.ts";
import { DecisionMaker } from "./rules/decision-maker.ts";
import { compileRule } from "./rules/rule.ts";

const types = Object.keys(ahpEvents) as AhpEventType[];

/** Defaults of a policy whose file has none. */
const builtIn: Defaults = {
  idle: "allow",
  confirmation: "escalate",
  gate: { decision: "block", reason: "no rule of the policy allows it" },
  notification: "allow",
};

/** A policy of rules for tools blocks the model itself: that says where to allow it. */
const promptReason =
  "no rule of the policy allows pre_prompt, the request to the model: add a rule for it, or defaults: { pre_prompt: allow }";

const isBareBlock = (then: Then | undefined): boolean =>
  then === "block" || (typeof then === "object" && then.decision === "block" && then.reason === undefined);

/** The key among the defaults that decides events of a type. */
const defaultKeyOf = (type: AhpEventType, defaults: Defaults): keyof Defaults => {
  const { blocking, specialised } = ahpEvents[type];
  if (defaults[type] !== undefined || specialised) return type;
  return blocking ? "gate" : "notification";
};

const compileDefaults = (own: Defaults, parts: CompileParts): Map<AhpEventType, DecisionMaker> => {
  const defaults = { ...builtIn, ...own };
  if (own.pre_prompt === undefined && (own.gate === undefined || isBareBlock(own.gate)))
    defaults.pre_prompt = { decision: "block", reason: promptReason };
  const makers = new Map<AhpEventType, DecisionMaker>();
  for (const [key, source] of Object.entries(defaults) as [keyof Defaults, Then | undefined][]) {
    const decided = types.filter((type) => defaultKeyOf(type, defaults) === key);
    if (source === undefined || decided.length === 0) continue;
    const reason = "no rule of the policy applies";
    const maker = new DecisionMaker({ ...parts, source, types: decided, path: ["defaults", key], reason });
    for (const type of decided) makers.set(type, maker);
  }
  return makers;
};

/** Where a file's value is from. */
export interface CompiledSource {
  readonly text: string;
  readonly file: string;
  readonly problems: Pick<PolicySource, "add" | "addInText" | "warn" | "warnings" | "throwIfAny">;
  /**
   * The engine of patterns. @default none: the file was checked when it was built and has no patterns, and its expressions are
   * compiled when an event first needs them
   */
  readonly matches?: Matches;
}

/** Compiles the value of a policy file. Throws like `parsePolicy`. */
export const compilePolicy = (
  value: PolicyFile,
  { text, file, problems, matches }: CompiledSource,
  options: ParsePolicyOptions,
): Policy => {
  const { functions = [], elapsedMs = () => performance.now() } = options;
  const bounds = policyLimits.resolve(options.limits);
  const { lists = {}, name = file.replace(/^.*[\\/]/, ""), mode = "enforce" } = value;
  const expressions = new Expressions({ limits: bounds, functions, lists, elapsedMs, matches });
  const parts: CompileParts = { lists, expressions, problems, isChecked: matches === undefined };
  const allRules = value.rules.map((rule, index) => compileRule(rule, index, parts));
  const allLimits = (value.limits ?? []).map((limit, index) => compileLimit(limit, index, parts));
  const defaults = compileDefaults(value.defaults ?? {}, parts);
  problems.throwIfAny();
  const decided = new Set(allRules.flatMap(({ condition }) => condition.types));
  return createPolicy(
    {
      name,
      file,
      text,
      mode,
      rules: allRules.map((rule) => rule.name),
      limits: allLimits.map((limit) => limit.name),
      warnings: problems.warnings,
      decides: types.filter((type) => defaults.has(type) || decided.has(type)),
    },
    {
      value,
      rules: createCandidates(allRules),
      limits: createCandidates(allLimits),
      allLimits,
      defaults,
      expressions,
      bounds,
      workspace: value.workspace ?? options.workspace ?? "",
      ownFiles: options.ownFiles ?? [],
      changesFiles: options.changesFiles ?? mayChangeFiles,
      options,
    },
  );
};
