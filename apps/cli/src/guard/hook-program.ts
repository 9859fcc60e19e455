import { type HookReply, runHook } from "@harnesskit/guard/hook";

/** The tools of hosts that change files, by the names of the hosts. */
const editingTools: readonly string[] = [
  ...["Edit", "MultiEdit", "Write"],
  ...["apply_patch", "patch"],
  ...["edit", "write", "create", "replace", "write_file", "str_replace_editor"],
];

const namesEditing = new RegExp(`"(?:tool_name|toolName|tool)"\\s*:\\s*"(?:${editingTools.join("|")})"`);
/** The fields of what a tool has put out: the call has been made. */
const resultFields = ["tool_response", "tool_result", "toolResult", "output", "error"];

const hookFields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;

/** Arguments as an object: one host writes them as JSON in a string. */
const argumentsOf = (given: unknown): unknown => (typeof given === "string" ? JSON.parse(given) : given);

/**
 * What the edit of a hook's input would change, as a unified diff or the reason in brackets; undefined for a call that is not an edit and for
 * one that was made. Rejects for input that is not JSON.
 */
const previewHookEdit = async (input: string, workspace: string): Promise<string | undefined> => {
  if (!namesEditing.test(input)) return undefined;
  const call = hookFields(JSON.parse(input));
  const tool = call?.tool_name ?? call?.toolName ?? call?.tool;
  if (call === undefined || !editingTools.includes(String(tool))) return undefined;
  if (resultFields.some((name) => call[name] !== undefined && call[name] !== null)) return undefined;
  // Loaded for edits alone: this program is started for each call.
  const { previewForeignEdit } = await import("@harnesskit/workspace-agent/edit-preview");
  const cwd = call.cwd ?? call.directory;
  return previewForeignEdit({
    arguments: argumentsOf(call.tool_input ?? call.toolArgs ?? call.args),
    workspace,
    cwd: typeof cwd === "string" && cwd !== "" ? cwd : workspace,
  });
};

/** What `harness guard hook HOST [OPTIONS]` was given; the command line's own reader would be loaded for each call. */
interface HookArguments {
  readonly host: string;
  readonly socket?: string;
  readonly timeoutMs?: number;
  readonly event?: string;
}

const names: Readonly<Record<string, "socket" | "timeoutMs" | "event">> = {
  "--socket": "socket",
  "--timeout-ms": "timeoutMs",
  "--event": "event",
};
const maxTimeoutMs = 2 ** 31 - 1;

/** The first words of what `--version` answers: no other program does. */
export const hookProgramTitle = "harness guard hook";

const usage = "use: harness guard hook HOST [--socket PATH] [--timeout-ms N] [--event NAME]";

const unknownOption = (option: string): string => `unknown option ${JSON.stringify(option).slice(0, 100)}`;

/** The arguments, or what is wrong with them. */
const readArguments = (args: readonly string[]): HookArguments | string => {
  const [host, ...rest] = args;
  const isOption = host?.startsWith("-") === true;
  if (isOption && !Object.hasOwn(names, host)) return unknownOption(host);
  if (host === undefined || isOption) return "the host is missing";
  const given: { socket?: string; timeoutMs?: number; event?: string } = {};
  for (let index = 0; index < rest.length; index += 2) {
    const option = rest[index] ?? "";
    const value = rest[index + 1];
    const name = Object.hasOwn(names, option) ? names[option] : undefined;
    if (name === undefined) return unknownOption(option);
    if (value === undefined) return `${option} needs a value`;
    if (name !== "timeoutMs") given[name] = value;
    else if (/^\d{1,10}$/.test(value) && Number(value) >= 1 && Number(value) <= maxTimeoutMs) {
      given.timeoutMs = Number(value);
    } else return `--timeout-ms must be a number from 1 to ${maxTimeoutMs}`;
  }
  return { host, ...given };
};

const writeAll = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
  new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.write(text, () => resolve());
  });

const end = async ({ exitCode, stdout, stderr }: HookReply): Promise<never> => {
  if (stderr !== "") await writeAll(process.stderr, stderr);
  if (stdout !== "") await writeAll(process.stdout, stdout);
  process.exit(exitCode);
};

/** `harness guard hook HOST`: answers one call of a host's hook, and ends the process. `--version` says that it is this program. */
export const hookProgram = async (args: readonly string[]): Promise<never> => {
  if (args[0] === "--help") return end({ exitCode: 0, stdout: `${usage}\n`, stderr: "" });
  if (args[0] === "--version") return end({ exitCode: 0, stdout: `${hookProgramTitle} 1\n`, stderr: "" });
  const read = readArguments(args);
  if (typeof read === "string") {
    return end({ exitCode: 2, stdout: "", stderr: `harness guard hook: ${read}; ${usage}\n` });
  }
  return end(await runHook({ ...read, previewOf: previewHookEdit }, { stdin: process.stdin }));
};
