import type { ActionKind } from "../cel/actions.ts";
import type { Defaults, LimitSource, PolicyFile, PolicyMode, Then, When } from "../file/policy-schema.ts";
import { compiledOf, type Policy } from "../policy.ts";

/** A rule, a limit, or what decides where none does, in words. */
export interface RuleDescription {
  readonly kind: "rule" | "limit" | "default";
  readonly name: string;
  /** The author's own words. */
  readonly description?: string | undefined;
  /** When it applies, in words; the conditions in CEL are in `cel`. */
  readonly when: string;
  /** All of these must be true, too. */
  readonly cel: readonly string[];
  /** The decision's word. */
  readonly decision: string;
  /** The template of its reason. */
  readonly reason?: string | undefined;
  /** `shadow`: it is reported, and not made; also where the whole policy is in shadow. */
  readonly mode: PolicyMode;
}

const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : ([value].flat() as readonly T[]);

const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

const actionWords: Readonly<Record<ActionKind, string>> = {
  run: "runs a command",
  write: "writes a file",
  edit: "edits a file",
  read: "reads a file",
  search: "searches files",
  fetch: "fetches from the network",
  mcp: "calls a tool of an MCP server",
  bookkeeping: "keeps the agent's notes and plans",
  other: "does something that the tool's name does not say",
};

/** `bash, !bash_safe` as `bash, except bash_safe`. */
const globWords = (globs: readonly string[]): string => {
  const word = (glob: string) => (glob.startsWith("@") ? `one of the list ${glob.slice(1)}` : glob);
  const wanted = globs.filter((glob) => !glob.startsWith("!")).map(word);
  const excluded = globs.filter((glob) => glob.startsWith("!")).map((glob) => word(glob.slice(1)));
  const except = excluded.length === 0 ? "" : ` except ${anyOf(excluded)}`;
  return `${wanted.length === 0 ? "any" : anyOf(wanted)}${except}`;
};

const whenWords = ({ event, action, tool, session, agent }: When = {}): string => {
  const events = listOf(event);
  const namesTool = tool !== undefined || action !== undefined;
  const subject =
    events.length > 0 ? anyOf(events) : namesTool ? "an action" : "an action, or a request to the model";
  const places = [
    action === undefined ? "" : `that ${anyOf(listOf(action).map((kind) => actionWords[kind]))}`,
    tool === undefined ? "" : `with the tool ${globWords(listOf(tool))}`,
    agent === undefined ? "" : `of the agent ${globWords(listOf(agent))}`,
    session === undefined ? "" : `in the session ${globWords(listOf(session))}`,
  ];
  return [subject, ...places].filter((words) => words !== "").join(" ");
};

const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`);

const limitWords = ({ when, per, rate, concurrent }: LimitSource): string => {
  const bounds = [
    ...(rate === undefined ? [] : [`more than ${rate.max} in ${seconds(rate.window_ms)}`]),
    ...(concurrent === undefined ? [] : [`more than ${concurrent.max} at a time`]),
  ];
  const scope = per === undefined ? "" : `, for each ${listOf(per).join(" and ")}`;
  const what =
    when === undefined ? "an action" : whenWords({ tool: "*", ...when }).replace(" with the tool *", "");
  return `${what}, ${anyOf(bounds)}${scope}`;
};

const decisionOf = (then: Then): Pick<RuleDescription, "decision" | "reason"> =>
  typeof then === "string" ? { decision: then } : { decision: then.decision, reason: then.reason };

/** Those of events other than the gates'. */
const otherDefaults = (defaults: Defaults): readonly string[] =>
  Object.entries(defaults)
    .filter(([name]) => name !== "gate")
    .flatMap(([name, then]) => (then === undefined ? [] : [`${name}: ${decisionOf(then).decision}`]));

/** What a policy says, in words: its rules in the order in which they are asked, its limits, which are asked where these let an event pass, and its defaults. */
export const describePolicy = (policy: Policy): readonly RuleDescription[] => {
  const { limits = [], rules, defaults = {} }: PolicyFile = compiledOf(policy).value;
  const modeOf = (mode: PolicyMode | undefined): PolicyMode =>
    policy.mode === "shadow" ? "shadow" : (mode ?? "enforce");
  return [
    ...rules.map(
      (rule): RuleDescription => ({
        ...{ kind: "rule", name: rule.name, description: rule.description },
        ...{ when: whenWords(rule.when), cel: listOf(rule.when?.cel), mode: modeOf(rule.mode) },
        ...decisionOf(rule.then),
      }),
    ),
    ...limits.map(
      (limit): RuleDescription => ({
        ...{ kind: "limit", name: limit.name, description: limit.description },
        ...{ when: limitWords(limit), cel: listOf(limit.when?.cel), mode: modeOf(limit.mode) },
        ...decisionOf(limit.then ?? "defer"),
      }),
    ),
    {
      ...{ kind: "default", name: "default", cel: [], mode: modeOf(undefined) },
      when: ["where no rule decides", ...otherDefaults(defaults)].join("; "),
      ...decisionOf(defaults.gate ?? "block"),
    },
  ];
};
