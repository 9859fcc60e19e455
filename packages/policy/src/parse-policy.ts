import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { Expressions } from "./cel/expressions.ts";
import type { PolicyFunction } from "./cel/policy-function.ts";
import { type ChangesFiles, mayChangeFiles } from "./decide/changes-files.ts";
import { type Defaults, type PolicyFile, PolicyFileSchema, type Then } from "./file/policy-schema.ts";
import { PolicySource } from "./file/policy-source.ts";
import { compileLimit } from "./limits/limit.ts";
import { createPolicy, type Policy } from "./policy.ts";
import { type PolicyLimits, policyLimits } from "./policy-limits.ts";
import { createCandidates } from "./rules/candidates.ts";
import type { CompileParts } from "./rules/condition.ts";
import { DecisionMaker } from "./rules/decision-maker.ts";
import { compileRule } from "./rules/rule.ts";

export interface ParsePolicyOptions {
  /** The file's name in errors. @default "policy.yaml" */
  readonly file?: string;
  /** Functions for expressions, in addition to CEL's own. @default [] */
  readonly functions?: readonly PolicyFunction[];
  /** The workspace where neither the event nor the file names one. @default "" */
  readonly workspace?: string;
  /**
   * Absolute paths of the policy's own files. An action that would change one of them is escalated where the policy would
   * allow it: an agent that may write files must not grant itself the rest. @default []
   */
  readonly ownFiles?: readonly string[];
  /**
   * Whether an action may change one of `ownFiles`; `commandJudge` in `@harnesskit/command-judge` has one.
   * @default true for an action with a `command`, and for a `path` that is one of the files or a folder above it
   */
  readonly changesFiles?: ChangesFiles;
  readonly limits?: PolicyLimits;
  /** A monotonic time in milliseconds, for the deadline of a decision. @default performance.now */
  readonly elapsedMs?: () => number;
}

const types = Object.keys(ahpEvents) as AhpEventType[];
const listName = /^[A-Za-z_]\w*$/;

/** Defaults of a policy whose file has none. */
const builtIn: Defaults = {
  idle: "allow",
  confirmation: "escalate",
  gate: { decision: "block", reason: "no rule of the policy allows it" },
  notification: "allow",
};

/** The key among the defaults that decides events of a type. */
const defaultKeyOf = (type: AhpEventType, defaults: Defaults): keyof Defaults => {
  const { blocking, specialised } = ahpEvents[type];
  if (defaults[type] !== undefined || specialised) return type;
  return blocking ? "gate" : "notification";
};

const compileDefaults = (own: Defaults, parts: CompileParts): Map<AhpEventType, DecisionMaker> => {
  const defaults = { ...builtIn, ...own };
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

const checkNames = (file: PolicyFile, maxRules: number, problems: PolicySource): void => {
  for (const key of ["rules", "limits"] as const) {
    const entries = file[key] ?? [];
    const names = new Set<string>();
    entries.forEach(({ name }, index) => {
      if (names.has(name))
        problems.add([key, index, "name"], `the name ${JSON.stringify(name)} is used twice`);
      names.add(name);
    });
    if (entries.length > maxRules) problems.add([key, maxRules], `more than ${maxRules} ${key}`);
  }
  for (const name of Object.keys(file.lists ?? {})) {
    if (!listName.test(name)) problems.add(["lists", name], "the name of a list has letters, digits and _");
  }
};

/**
 * Reads a policy from YAML and compiles it: expressions are parsed and their types checked, decisions are checked against
 * the events' types. Changes of places that no event has are in the policy's `warnings`. Throws {@link PolicyError} with
 * the line and column of each problem, and `invalid_argument` for limits and functions that are not valid.
 */
export const parsePolicy = (text: string, options: ParsePolicyOptions = {}): Policy => {
  const { file = "policy.yaml", functions = [], elapsedMs = () => performance.now() } = options;
  const bounds = policyLimits.resolve(options.limits);
  const problems = new PolicySource(text, file, bounds);
  const value = problems.parse(PolicyFileSchema);
  checkNames(value, bounds.maxRules, problems);
  problems.throwIfAny();
  const { lists = {}, name = file.replace(/^.*[\\/]/, ""), mode = "enforce" } = value;
  const expressions = new Expressions({ limits: bounds, functions, lists, elapsedMs });
  const parts: CompileParts = { lists, expressions, problems };
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
      rules: createCandidates(allRules),
      limits: createCandidates(allLimits),
      allLimits,
      defaults,
      expressions,
      bounds,
      workspace: value.workspace ?? options.workspace ?? "",
      ownFiles: options.ownFiles ?? [],
      changesFiles: options.changesFiles ?? mayChangeFiles,
    },
  );
};
