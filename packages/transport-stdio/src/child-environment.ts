/** What a child inherits on POSIX systems, beside every name that begins with `LC_`. No name here carries a secret. */
const posixNames = "PATH HOME LANG LANGUAGE TERM SHELL USER LOGNAME TMPDIR TZ";

/** What a program needs on Windows to start at all, beside its users' directories. */
const windowsNames =
  "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES " +
  "SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR";

export interface ChildEnvironmentOptions {
  readonly source: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** More names that the child inherits. */
  readonly inheritEnv: readonly string[];
  /** What the child gets in any case; wins over what it inherits. */
  readonly env: Readonly<Record<string, string>>;
}

/** The child's whole environment: an allow-list of what this process has, and what the caller gives. */
export const childEnvironment = ({ source, platform, inheritEnv, env }: ChildEnvironmentOptions) => {
  const onWindows = platform === "win32";
  const normalise = (name: string) => (onWindows ? name.toUpperCase() : name);
  const own = (onWindows ? windowsNames : posixNames).split(" ");
  const names = new Set([...own, ...inheritEnv].map(normalise));
  const given = new Set(Object.keys(env).map(normalise));
  const inherited = Object.entries(source).filter(([name, value]) => {
    const isAllowed = names.has(normalise(name)) || (!onWindows && name.startsWith("LC_"));
    return isAllowed && value !== undefined && !given.has(normalise(name));
  });
  return { ...Object.fromEntries(inherited), ...env };
};
