import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { Expressions } from "./cel/expressions.ts";
import type { PolicyFunction } from "./cel/policy-function.ts";
import { type ChangesFiles, mayChangeFiles } from "./decide/changes-files.ts";
import { type Defaults, type PolicyFile, PolicyFileSchema, type Then } from "./file/policy-schema.ts";
import { ProblemList, readPolicyFile } from "./file/read-policy-file.ts";
import { compileLimit } from "./limits/limit.ts";
import { Policy } from "./policy.ts";
import { type PolicyLimits, type ResolvedPolicyLimits, resolvePolicyLimits } from "./policy-limits.ts";
import { DecisionMaker } from "./rules/decision-maker.ts";
import { type CompileParts, compileRule } from "./rules/rule.ts";
import { RuleIndex } from "./rules/rule-index.ts";

export interface ParsePolicyOptions {
  /** What errors call the file. @default "policy.yaml" */
  readonly file?: string;
  /** Functions for expressions, beside CEL's own. @default [] */
  readonly functions?: readonly PolicyFunction[];
  /** The workspace where neither the event nor the file names one. @default "" */
  readonly workspace?: string;
  /**
   * Absolute paths of the file. An action that would change one of them is asked about where the policy would let it
   * pass: an agent that may write files does not give itself the right to do the rest. @default []
   */
  readonly ownFiles?: readonly string[];
  /**
   * Says whether an action may change one of `ownFiles`, such as that of `commandJudge` in `@harnesskit/command-judge`.
   * @default an action with a `command` may, and one with a `path` that is one of the files or a folder above it
   */
  readonly changesFiles?: ChangesFiles;
  /** @default see each limit */
  readonly limits?: PolicyLimits;
  /** A monotonic time in milliseconds, for the deadline of a decision. @default performance.now */
  readonly elapsedMs?: () => number;
}

const types = Object.keys(ahpEvents) as AhpEventType[];
const listName = /^[A-Za-z_]\w*$/;

const builtIn: Readonly<Partial<Record<AhpEventType, Then>>> = { idle: "allow", confirmation: "escalate" };
const gateDefault: Then = { decision: "block", reason: "no rule of the policy allows it" };

const defaultOf = (type: AhpEventType, defaults: Defaults): { source: Then; key: string } | undefined => {
  const own = defaults[type];
  if (own !== undefined) return { source: own, key: type };
  const { blocking, specialised } = ahpEvents[type];
  if (specialised) {
    const then = builtIn[type];
    return then && { source: then, key: type };
  }
  return blocking
    ? { source: defaults.gate ?? gateDefault, key: "gate" }
    : { source: defaults.notification ?? "allow", key: "notification" };
};

const compileDefaults = (defaults: Defaults, parts: CompileParts): Map<AhpEventType, DecisionMaker> => {
  const makers = new Map<string, DecisionMaker>();
  const byType = new Map<AhpEventType, DecisionMaker>();
  for (const type of types) {
    const found = defaultOf(type, defaults);
    if (!found) continue;
    const { source, key } = found;
    let maker = makers.get(key);
    if (!maker) {
      const sameKey = types.filter((other) => defaultOf(other, defaults)?.key === key);
      const reason = "no rule of the policy applies";
      maker = new DecisionMaker({ ...parts, source, types: sameKey, path: ["defaults", key], reason });
      makers.set(key, maker);
    }
    byType.set(type, maker);
  }
  return byType;
};

const checkNames = (file: PolicyFile, limits: ResolvedPolicyLimits, problems: ProblemList): void => {
  for (const key of ["rules", "limits"] as const) {
    const seen = new Set<string>();
    (file[key] ?? []).forEach(({ name }, index) => {
      if (seen.has(name))
        problems.add([key, index, "name"], `there is another of the name ${JSON.stringify(name)}`);
      seen.add(name);
    });
    if ((file[key]?.length ?? 0) > limits.maxRules) {
      problems.add([key, limits.maxRules], `more than ${limits.maxRules} ${key}`);
    }
  }
  for (const name of Object.keys(file.lists ?? {})) {
    if (!listName.test(name)) problems.add(["lists", name], "a list's name has letters, digits and _");
  }
};

/**
 * Reads a policy from the text of a YAML file and makes it ready: expressions are parsed and checked for their types,
 * decisions against the events' types. What a rule changes that no event has is among the policy's `warnings`. Throws {@link PolicyError} with the line and column of each problem, and
 * `invalid_argument` for limits and functions that cannot be used.
 */
export const parsePolicy = (text: string, options: ParsePolicyOptions = {}): Policy => {
  const { file = "policy.yaml", functions = [], elapsedMs = () => performance.now() } = options;
  const bounds = resolvePolicyLimits(options.limits);
  const { value, places } = readPolicyFile(text, PolicyFileSchema, file, bounds);
  const problems = new ProblemList(places);
  checkNames(value, bounds, problems);
  problems.throwIfAny(file);
  const lists = value.lists ?? {};
  const expressions = new Expressions({ limits: bounds, functions, lists, elapsedMs });
  const parts: CompileParts = { lists, expressions, problems };
  const rules = value.rules.map((rule, index) => compileRule(rule, index, parts));
  const limits = (value.limits ?? []).map((limit, index) => compileLimit(limit, index, parts));
  const defaults = compileDefaults(value.defaults ?? {}, parts);
  problems.throwIfAny(file);
  const index = new RuleIndex(rules);
  return new Policy(
    {
      name: value.name ?? file.replace(/^.*[\\/]/, ""),
      file,
      mode: value.mode ?? "enforce",
      warnings: problems.warnings,
      decides: types.filter((type) => defaults.has(type) || index.has(type)),
    },
    {
      rules,
      index,
      limits,
      limitIndex: new RuleIndex(limits),
      defaults,
      expressions,
      bounds,
      workspace: value.workspace ?? options.workspace ?? "",
      ownFiles: options.ownFiles ?? [],
      changesFiles: options.changesFiles ?? mayChangeFiles,
      text,
    },
  );
};
