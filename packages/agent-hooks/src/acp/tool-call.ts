import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { defined, isObject } from "@harnesskit/wire/json";
import { readMcpName, type ToolRules } from "../actions.ts";
import { withoutAbsent } from "../fields.ts";
import type { HostToolCall } from "../host.ts";
import { acpAgentFacts } from "./acp-agents.ts";
import { commandLine } from "./command-line.ts";

/** A tool call as an ACP agent describes it, in a permission request or in updates. */
export interface AcpToolCall {
  readonly toolCallId: string;
  readonly kind?: JsonValue;
  readonly title?: JsonValue;
  readonly name?: JsonValue;
  readonly content?: JsonValue;
  readonly locations?: JsonValue;
  readonly rawInput?: JsonValue;
}

/** Methods and kinds of ACP, as tools that policies know. */
export const acpTools: ToolRules = {
  "terminal/create": { tool: "bash", rename: { cwd: "cwd" }, strings: ["command"] },
  execute: { tool: "bash", rename: { cwd: "cwd" }, strings: ["command"] },
  "fs/write_text_file": { tool: "write", strings: ["path", "content"] },
  write: { tool: "write", strings: ["path", "content"] },
  edit: { tool: "edit", strings: ["path"] },
  read: { tool: "read", strings: ["path"] },
  search: { tool: "grep", strings: ["pattern"] },
  fetch: { tool: "fetch", strings: ["url"] },
};

const objectsOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  (Array.isArray(value) ? value : []).filter((one): one is JsonObject => isObject(one));

const rawOf = ({ rawInput }: AcpToolCall): JsonObject => (isObject(rawInput) ? (rawInput as JsonObject) : {});

/** The files that a call names in its arguments and changes. */
const namedFiles = (call: AcpToolCall): readonly JsonValue[] => {
  const { file_path, path, abs_path, filePath, absolute_path } = rawOf(call);
  const changed = objectsOf(call.content).filter(({ type }) => type === "diff");
  const all = [file_path, path, abs_path, filePath, absolute_path, ...changed.map((diff) => diff.path)];
  return all.filter((one) => one !== undefined && one !== null);
};

const locatedFiles = ({ locations }: AcpToolCall): readonly JsonValue[] =>
  objectsOf(locations).flatMap(({ path }) => (path === undefined || path === null ? [] : [path]));

/** The one file that a call names, in whatever of its fields; undefined for none or several. */
const namedFile = (call: AcpToolCall): string | undefined => {
  const [first, ...others] = new Set([...namedFiles(call), ...locatedFiles(call)]);
  return typeof first === "string" && first !== "" && others.length === 0 ? first : undefined;
};

const run = (call: AcpToolCall, agent: string | undefined, workspace: string | undefined) => {
  const { command, cmd, args, cwd, workdir, ...others } = rawOf(call);
  if (command !== undefined && cmd !== undefined) return undefined;
  const line = commandLine(command ?? cmd, args, others.env);
  const place = cwd ?? workdir;
  if (line !== undefined)
    return defined({ command: line, cwd: typeof place === "string" ? place : undefined });
  if (call.rawInput !== undefined || !acpAgentFacts(agent).commandInTitle) return undefined;
  const { content } = objectsOf(call.content)[0] ?? {};
  const said = isObject(content) ? (content as JsonObject).text : undefined;
  const isHere = typeof said === "string" && said.startsWith(`[current working directory ${workspace}]`);
  return isHere && typeof call.title === "string"
    ? { command: call.title, cwd: workspace as string }
    : undefined;
};

/** What it writes: a new file as a whole, or a change. */
const fileChange = (call: AcpToolCall): HostToolCall | undefined => {
  const path = namedFile(call);
  if (path === undefined) return undefined;
  const diffs = objectsOf(call.content).filter(({ type }) => type === "diff");
  const [diff] = diffs;
  if (diffs.length > 1) return undefined;
  if (diff === undefined) {
    const { old_string: before, new_string: after } = rawOf(call);
    const texts = typeof before === "string" && typeof after === "string";
    return {
      name: "edit",
      input: defined({ path, old_text: texts ? before : undefined, new_text: texts ? after : undefined }),
    };
  }
  const { oldText, newText } = diff;
  if (typeof newText !== "string") return undefined;
  return typeof oldText === "string"
    ? { name: "edit", input: { path, old_text: oldText, new_text: newText } }
    : { name: "write", input: { path, content: newText } };
};

const byKind = (
  call: AcpToolCall,
  agent: string | undefined,
  workspace: string | undefined,
): HostToolCall | undefined => {
  const raw = rawOf(call);
  const path = namedFile(call);
  switch (call.kind) {
    case "execute": {
      const input = run(call, agent, workspace);
      return input && { name: "execute", input };
    }
    case "edit":
      return fileChange(call);
    case "read":
      return path === undefined ? undefined : { name: "read", input: { path } };
    case "search": {
      const { pattern } = raw;
      const isWhole = typeof pattern === "string" && path !== undefined;
      return isWhole ? { name: "search", input: { pattern, path } } : undefined;
    }
    case "fetch":
      return typeof raw.url === "string" ? { name: "fetch", input: { url: raw.url } } : undefined;
    default:
      return undefined;
  }
};

const text = (value: JsonValue | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** What is known of a call that no table knows: all that a human can go by. */
const described = ({ toolCallId: _, ...others }: AcpToolCall): JsonObject => withoutAbsent({ ...others });

/** The call as a table of tools can read it. An MCP tool is one by its `name`: a title may be what the model has written. */
export const toHostCall = (
  call: AcpToolCall,
  agent: string | undefined,
  workspace: string | undefined,
): HostToolCall => {
  const name = text(call.name);
  if (name !== undefined && readMcpName(name)) return { name, input: call.rawInput ?? {} };
  return (
    byKind(call, agent, workspace) ?? { name: text(call.kind) ?? "other", input: { call: described(call) } }
  );
};

/** What a call names: the command that it runs, or the files that it is about. */
export interface AcpNames {
  readonly command: string | undefined;
  readonly paths: readonly string[];
}

const changesFiles: ReadonlySet<unknown> = new Set(["edit", "delete", "move"]);

/**
 * What a report of a call names, as far as it does. A command's files are not its own, and a reader's locations are what the editor may show
 * beside it.
 */
export const acpNames = (call: AcpToolCall, agent: string | undefined): AcpNames => {
  if (call.kind === "execute") {
    const isTitle = call.rawInput === undefined && acpAgentFacts(agent).commandInTitle === true;
    const command = isTitle ? text(call.title) : run(call, agent, undefined)?.command;
    return { command, paths: [] };
  }
  const all = [...namedFiles(call), ...(changesFiles.has(call.kind) ? locatedFiles(call) : [])];
  return {
    command: undefined,
    paths: all.filter((path) => typeof path === "string" && path !== "") as string[],
  };
};
