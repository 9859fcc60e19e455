import { agentEnvironment } from "@harnesskit/protocol/runtime";

/** What each agent inherits from the core, beside every name that begins with `LC_`. No name here carries a secret. */
const inheritedNames: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LANGUAGE",
  "LOGNAME",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
];

export interface LaunchEnvironmentOptions {
  /** The core's own environment. */
  readonly source: Readonly<Record<string, string | undefined>>;
  /** `env` of the manifest: further names that the agent inherits. */
  readonly names: readonly string[];
  readonly socketPath: string;
  readonly token: string;
  readonly launchId: string;
  readonly heartbeatIntervalMs: number;
  readonly maxFrameBytes: number;
}

/**
 * An agent's whole environment (section 5.2): a short list of names, those of its manifest, where its core is, and the
 * core's options.
 */
export const launchEnvironment = (options: LaunchEnvironmentOptions): Record<string, string> => {
  const names = new Set([...inheritedNames, ...options.names]);
  const inherited = Object.entries(options.source).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (names.has(entry[0]) || entry[0].startsWith("LC_")),
  );
  return {
    ...Object.fromEntries(inherited),
    [agentEnvironment.socket]: options.socketPath,
    [agentEnvironment.token]: options.token,
    [agentEnvironment.launchId]: options.launchId,
    [agentEnvironment.heartbeatIntervalMs]: String(options.heartbeatIntervalMs),
    [agentEnvironment.maxFrameBytes]: String(options.maxFrameBytes),
  };
};
