import { type HookReply, runHook } from "@harnesskit/guard/hook";
import { previewHookEdit } from "./hook-edit.ts";

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

/** The arguments, or what is wrong with them. */
const readArguments = (args: readonly string[]): HookArguments | string => {
  const [host, ...rest] = args;
  if (host === undefined || host.startsWith("-")) return "the host is missing";
  const given: { socket?: string; timeoutMs?: number; event?: string } = {};
  for (let index = 0; index < rest.length; index += 2) {
    const option = rest[index] ?? "";
    const value = rest[index + 1];
    const name = Object.hasOwn(names, option) ? names[option] : undefined;
    if (name === undefined) return `unknown option ${JSON.stringify(option).slice(0, 100)}`;
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
