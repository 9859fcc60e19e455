import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ApprovalRecord, InputPattern } from "@harnesskit/protocol/hub";
import { displayText } from "@harnesskit/wire";
import { commandProblem } from "./command-start.ts";
import { isCommandTool } from "./describe-call.ts";
import { grantProblem, grantTerms } from "./grant.ts";
import { runFields } from "./grant-breadth.ts";

/** What may follow the start of one plain command: nothing that a shell reads as more than its arguments. */
const plainArguments = "(?: [A-Za-z0-9 _./:=@,+-]*)?";

/** What leads out of a project: `..`, an absolute path, also right behind an option's letter, and the address of another host. */
const leadsOut = "[.][.]|[ =:,@+/-]/| -[A-Za-z0-9]/";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const scripts = words("test run");

/**
 * What runs a project's own tests, checks and scripts, whatever its arguments: who allows it once trusts the project's code. The arguments of
 * other programs name what is removed, written or sent.
 */
const projectVerbs: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...["npm", "pnpm", "yarn"].map((name) => [name, scripts] as const),
  ["bun", words("test")],
  // `deno test` runs what a package registry has, by its name.
  ["deno", words("lint check")],
  ["cargo", words("test check build clippy bench")],
  ["go", words("test build vet")],
  ["dotnet", words("test build")],
  ["make", words("test check build lint")],
]);

/** The fewest words of a command that name its task: `npm test` of `npm test --watch`. */
const shortestStart = (command: string): string | undefined => {
  const [program = "", verb = "", script = ""] = command.split(" ");
  if (projectVerbs.get(program)?.has(verb) !== true) return undefined;
  if (verb === "run" && !/^\w[\w:.-]*$/.test(script)) return undefined;
  const start = verb === "run" ? `${program} run ${script}` : `${program} ${verb}`;
  return commandProblem(start) === undefined ? start : undefined;
};

/**
 * The narrowest pattern of a grant that covers more than the call that was asked about: its command may go on with plain arguments, and all
 * else is as it was. Undefined where a command can be allowed only exactly, and for calls without one.
 */
export const shortestPattern = (record: ApprovalRecord): InputPattern | undefined => {
  const { input } = record.subject;
  const name = Object.keys(input).find((each) => runFields.has(each));
  const command = name === undefined ? undefined : input[name];
  const startsWith = typeof command === "string" ? shortestStart(command) : undefined;
  if (name === undefined || startsWith === undefined) return undefined;
  const exact = Object.entries(input).map(([each, value]) => [each, { is: value }]);
  const pattern: InputPattern = { ...Object.fromEntries(exact), [name]: { startsWith } };
  const terms = grantTerms(record, { reach: "session", input: pattern }, 0, 1);
  return grantProblem(record, terms) === undefined ? pattern : undefined;
};

const isPlain = (command: unknown): command is string =>
  typeof command === "string" && /^[\w ./:=@,+-]*$/.test(command) && !new RegExp(leadsOut).test(command);

/**
 * The input with its command cut to its shortest start, such as `npm test` of `npm test --watch`: it stands for each call that differs in the
 * command's plain arguments alone. `;`, `&&`, `|`, `$(`, quotes, new lines, `..`, and paths and addresses outside of the project are never part of such a call. Undefined for any other call.
 */
export const startOfCall = ({
  tool,
  input,
}: Pick<ApprovalRecord["subject"], "tool" | "input">): JsonObject | undefined => {
  const { command } = input;
  const start = isCommandTool(tool) && isPlain(command) ? shortestStart(command) : undefined;
  return start === undefined ? undefined : { ...input, command: start };
};

const maxRuleLength = 300;

/** The line of a policy file that allows exactly this call; undefined where one line cannot say it. */
export const allowingRule = (tool: string, input: Readonly<Record<string, unknown>>): string | undefined => {
  const field = ["command", "path"].find((name) => typeof input[name] === "string");
  if (field === undefined || !/^\w+$/.test(tool)) return undefined;
  const value = JSON.stringify(input[field]);
  if (value.length > maxRuleLength || displayText(value) !== value) return undefined;
  const cel = `args.${field} == ${value}`.replaceAll("'", "''");
  return `- { name: allow-this, when: { event: pre_action, tool: ${tool}, cel: '${cel}' }, then: allow }`;
};

/** A rule of a policy file that an answer can become. */
export interface AnswerRule {
  /** What it covers: `npm test*`; of a call that is allowed exactly, the call. */
  readonly covers: string;
  /** One line of YAML, an entry of `rules`. */
  readonly line: string;
}

/**
 * The rule that allows calls like this one: a command's shortest start with plain arguments, so that `;`, `&&`, `|`, `$(`, quotes, new lines
 * and what leads out of the project never match, or else exactly the call. Undefined where one line cannot say it.
 */
export const ruleOfAnswer = ({ subject: { tool, input } }: ApprovalRecord): AnswerRule | undefined => {
  const { command } = input;
  const start = isPlain(command) ? shortestStart(command) : undefined;
  if (start === undefined || !/^\w+$/.test(tool)) {
    const line = allowingRule(tool, input);
    return line === undefined ? undefined : { covers: "exactly this", line };
  }
  const escaped = start.replace(/[.+]/g, "[$&]");
  const name = `allow-${start.replace(/\W+/g, "-").replace(/^-|-$/g, "")}`.slice(0, 60);
  const cel = `args.command.matches("^${escaped}${plainArguments}$") && !args.command.matches("${leadsOut}")`;
  const line = `- { name: ${name}, when: { event: pre_action, tool: ${tool}, cel: '${cel}' }, then: allow }`;
  return { covers: `${displayText(start, { maxLength: 200 })}*`, line };
};
