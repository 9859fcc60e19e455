import { agentEnvironment } from "@harnesskit/protocol/runtime";

/** What every command sees of the environment of this process, beside `LC_*`. No name here carries a secret. */
const defaultNames = [
  "PATH",
  "HOME",
  "LANG",
  "TERM",
  "SHELL",
  "USER",
  "LOGNAME",
  "TMPDIR",
  "TZ",
  // By it the core finds what a command left behind, wherever that went, when this process is gone.
  agentEnvironment.launchId,
];
/** Without these, programs of Windows do not start. */
const windowsNames = [
  "SystemRoot",
  "SystemDrive",
  "ComSpec",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "windir",
];

/** Never passed to a command: the address of the core and the token for it. */
export const neverPassedOn: ReadonlySet<string> = new Set([agentEnvironment.token, agentEnvironment.socket]);

/**
 * The environment of a command: the variables that a program needs to find its way, the further `names`, nothing else.
 * Keys and tokens of this process stay here.
 */
export function commandEnvironment(
  names: readonly string[],
  source: NodeJS.ProcessEnv,
): Record<string, string> {
  const wanted = [...defaultNames, ...(process.platform === "win32" ? windowsNames : []), ...names];
  const locale = Object.keys(source).filter((name) => name.startsWith("LC_"));
  const environment: Record<string, string> = {};
  for (const name of [...wanted, ...locale]) {
    const value = source[name];
    if (value !== undefined && !neverPassedOn.has(name)) environment[name] = value;
  }
  return environment;
}
