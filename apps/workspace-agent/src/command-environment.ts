/** What every command sees of the environment of this process, beside `LC_*`. */
const defaultNames = ["PATH", "HOME", "LANG", "TERM", "SHELL", "USER", "LOGNAME", "TMPDIR", "TZ"];
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
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
