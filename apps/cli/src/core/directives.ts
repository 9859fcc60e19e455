import {
  createDirectives,
  createFileDirectives,
  type Directive,
  type Directives,
} from "@harnesskit/core-runtime";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { openCoreAuditLog } from "../audit/audit-logs.ts";
import { ExitCode, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, emit } from "../terminal/terminal.ts";
import { coreFile, thisUser, toUntil, withFile } from "./core-files.ts";
import { parseExactJson } from "./exact-json.ts";

export interface DirectivesOptions {
  readonly file?: string;
  readonly json?: true;
}

export interface DirectiveChangeOptions extends DirectivesOptions {
  readonly audit?: string | false;
}

export interface DirectiveIssueOptions extends DirectiveChangeOptions {
  readonly input?: string;
  readonly match?: string;
  readonly until: string;
  readonly uses?: number;
}

const directiveState = ({ until, uses, max_uses, revoked_at, revoked_by = "unknown" }: Directive): string => {
  if (revoked_at !== undefined) return `revoked ${revoked_at} by ${revoked_by}`;
  if (uses >= max_uses) return "spent";
  return Date.parse(until) > io().clock.now() ? `until ${until}` : `expired ${until}`;
};

const directiveLine = (directive: Directive): string => {
  const { id, tool_id: tool, input, issued_by: by, issued_at: at, uses, max_uses: max } = directive;
  const what = "digest" in input ? "one input" : `fields ${input.fields.map(({ name }) => name).join(", ")}`;
  const facts = `${what}; used ${uses} of ${max}; ${directiveState(directive)}; issued ${at} by ${by.type}:${by.id}`;
  return `${id}  ${tool}  (${facts})`;
};

const openStore = ({ file }: DirectivesOptions) =>
  createFileDirectives({ path: coreFile("directives", file) });

/** Changes the directives, with a record of it. */
const changing = async (
  options: DirectiveChangeOptions,
  change: (directives: Directives) => Promise<Directive>,
): Promise<Directive> => {
  const sink = await openCoreAuditLog(options.audit);
  try {
    return await withFile(() => change(createDirectives({ store: openStore(options), audit: sink })));
  } finally {
    await sink?.close();
  }
};

const toObject = (option: string, text: string): JsonObject => {
  try {
    const value = parseExactJson(option, text);
    if (isObject(value)) return value as JsonObject;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw usageError(`${option} must be a JSON object`, `For example: ${option} '{"env":"staging"}'`);
};

/** `harness core directive issue`: prints the id, or the directive as JSON. Returns the exit code. */
export const issueDirective = async (toolId: string, options: DirectiveIssueOptions): Promise<ExitCode> => {
  const { input, match, until, uses = 1 } = options;
  if ((input === undefined) === (match === undefined)) throw usageError("give one of --input and --match");
  const request = {
    tool_id: toolId,
    input: input === undefined ? undefined : toObject("--input", input),
    match: match === undefined ? undefined : toObject("--match", match),
    issued_by: { type: "human", id: thisUser() } as const,
    until: toUntil("--until", until),
    max_uses: uses,
  };
  const issued = await changing(options, (directives) => directives.issue(request));
  emit(options.json, issued, () => issued.id);
  return ExitCode.done;
};

/** `harness core directive revoke`: no later call uses it. Returns the exit code. */
export const revokeDirective = async (id: string, options: DirectiveChangeOptions): Promise<ExitCode> => {
  const revoked = await changing(options, (directives) => directives.revoke(id, thisUser()));
  emit(options.json, revoked, () => directiveLine(revoked));
  return ExitCode.done;
};

/** `harness core directive list`: list the directives that can be used, and those that ended last. */
export const listDirectives = async (options: DirectivesOptions): Promise<ExitCode> => {
  const directives = await withFile(() => openStore(options).list());
  const terminal = createTerminal();
  const file = coreFile("directives", options.file);
  if (options.json) terminal.json({ file, directives });
  else if (directives.length === 0) terminal.say("There are no directives.");
  else for (const each of directives) terminal.say(directiveLine(each));
  return ExitCode.done;
};
