import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import type { HostToolCall } from "./host.ts";
import { readPatch } from "./patch.ts";

/** What a call does. `other` is the most careful one: nothing is known about the call. */
export type ActionKind = "run" | "write" | "edit" | "read" | "search" | "fetch" | "mcp" | "other";

/** The names under which policies know the tools of all hosts. */
const kinds = {
  bash: "run",
  powershell: "run",
  write: "write",
  edit: "edit",
  read: "read",
  glob: "search",
  grep: "search",
  fetch: "fetch",
  web_search: "fetch",
} as const satisfies Readonly<Record<string, ActionKind>>;

/** A tool of a host: what policies call it, and what its arguments are called. */
export interface ToolRule {
  readonly tool: keyof typeof kinds;
  /** Host's name → policy's name of an argument; other arguments keep their names. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Arguments, by the host's names, that must be strings; else the call is `other`. */
  readonly strings: readonly string[];
  /** The argument that holds a patch envelope; its one file becomes `path`. */
  readonly patch?: string;
}
export type ToolRules = Readonly<Record<string, ToolRule>>;

/** A call as policies see it, the same for all hosts. */
export interface Action {
  readonly kind: ActionKind;
  /**
   * `bash`, `read`, `write`, `edit`, `glob`, `grep`, `fetch`, `web_search`, `powershell`, `mcp__SERVER__TOOL`, or
   * `HOST:NAME` for what is not known.
   */
  readonly tool: string;
  readonly arguments: JsonValue;
  readonly server?: string | undefined;
}

/** Where a call is made. */
export interface ActionPlace {
  readonly host: string;
  /** The agent's directory now. */
  readonly cwd: string | undefined;
  /** The directory by which policies judge paths; undefined where only they know it. */
  readonly workspace: string | undefined;
}

const renamedFields = (
  input: JsonObject,
  rename: Readonly<Record<string, string>>,
): JsonObject | undefined => {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(rename, key) ? (rename[key] as string) : key;
    // Two arguments with one name: what the host would do is not what a policy would see.
    if (Object.hasOwn(result, name)) return undefined;
    result[name] = value;
  }
  return result;
};

/** Adds what the host knows of a call and its input does not say: the directory of a command, the file of a patch. */
const derived = (rule: ToolRule, input: JsonObject, { cwd }: ActionPlace): JsonObject | undefined => {
  if (rule.patch !== undefined) {
    const path = readPatch(input[rule.patch]);
    return path === undefined ? undefined : { path };
  }
  if (kinds[rule.tool] !== "run") return {};
  // A directory that is not the tool's own argument is not where the host runs the command.
  if (Object.hasOwn(input, "cwd")) return Object.values(rule.rename ?? {}).includes("cwd") ? {} : undefined;
  return cwd === undefined ? {} : { cwd };
};

const isAbsolute = (path: JsonValue): boolean =>
  typeof path === "string" && /^(?:[/~\\]|[A-Za-z]:)/.test(path);

const known = (rule: ToolRule, input: JsonValue, place: ActionPlace): JsonObject | undefined => {
  if (!isObject(input) || rule.strings.some((name) => typeof input[name] !== "string")) return undefined;
  const args = renamedFields(input as JsonObject, rule.rename ?? {});
  const added = args && derived(rule, args, place);
  if (!args || !added || Object.keys(added).some((name) => Object.hasOwn(args, name))) return undefined;
  const all = { ...args, ...added };
  // A policy reads a relative path from the workspace, and the host from the agent's directory.
  const isThere = place.cwd !== undefined && place.cwd === place.workspace;
  const places = [all.path, all.cwd].filter((place) => place !== undefined);
  const isVague =
    places.some((path) => !isAbsolute(path)) || (places.length === 0 && kinds[rule.tool] === "search");
  if (isVague && !isThere) return undefined;
  return all;
};

/** What an action's arguments have that the host's input has not. */
export const derivedNames = (rule: ToolRule): readonly string[] =>
  rule.patch === undefined ? ["cwd"] : ["path"];

const isNamePart = (part: string): boolean => /^[\w.-]{1,128}$/.test(part);

/** Server and tool of `mcp__SERVER__TOOL`; undefined where there is more than one way to read it. */
export const readMcpName = (name: string): { readonly server: string; readonly tool: string } | undefined => {
  const [prefix, server = "", tool = "", ...rest] = name.split("__");
  if (prefix !== "mcp" || rest.length > 0 || !isNamePart(server) || !isNamePart(tool)) return undefined;
  // `a___b` may be `a` and `_b`, or `a_` and `b`.
  return server.endsWith("_") || tool.startsWith("_") ? undefined : { server, tool };
};

/** The action of a call: by the host's table, by the name of an MCP tool, or `other`. */
export const toAction = (
  call: HostToolCall,
  rules: ToolRules,
  readName: ((name: string) => { readonly server: string; readonly tool: string } | undefined) | undefined,
  place: ActionPlace,
): Action => {
  const mcp = call.mcp ?? readName?.(call.name);
  if (mcp && isNamePart(mcp.server) && isNamePart(mcp.tool)) {
    const tool = `mcp__${mcp.server}__${mcp.tool}`;
    return { kind: "mcp", tool, arguments: call.input, server: mcp.server };
  }
  const rule = Object.hasOwn(rules, call.name) ? rules[call.name] : undefined;
  const args = rule && !call.mcp ? known(rule, call.input, place) : undefined;
  if (rule && args) return { kind: kinds[rule.tool], tool: rule.tool, arguments: args };
  return { kind: "other", tool: `${place.host}:${call.name}`, arguments: call.input };
};
