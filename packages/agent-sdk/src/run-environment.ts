import { readOwnFile, sha256Digest } from "@harnesskit/node-kit";
import { AGENT_MANIFEST_FILE, agentEnvironment } from "@harnesskit/protocol/runtime";
import { MissingEnvironmentError } from "./errors.ts";

/** What a core passes to the process that it starts. */
export interface LaunchParameters {
  readonly socketPath: string;
  readonly token: string;
  /** Bytes of the largest frame; undefined where the core does not say it. */
  readonly maxFrameBytes: number | undefined;
}

/** A whole number above 0; anything else is treated as absent. */
const positiveOf = (text: string | undefined): number | undefined => {
  const value = /^\d{1,15}$/.test(text ?? "") ? Number(text) : 0;
  return value > 0 ? value : undefined;
};

/** Reads socket, token and options, and takes the token out of the environment at once. Throws `missing_environment`. */
export const takeLaunchParameters = (env: NodeJS.ProcessEnv): LaunchParameters => {
  const socketPath = env[agentEnvironment.socket];
  const token = env[agentEnvironment.token];
  delete env[agentEnvironment.token];
  const maxFrameBytes = positiveOf(env[agentEnvironment.maxFrameBytes]);
  if (socketPath && token) return { socketPath, token, maxFrameBytes };
  const missing = [
    ...(socketPath ? [] : [agentEnvironment.socket]),
    ...(token ? [] : [agentEnvironment.token]),
  ];
  throw new MissingEnvironmentError(missing);
};

/** As much as a core reads. */
const maxManifestBytes = 262_144;

/** The hash of this agent's manifest in the working directory, where a core starts it; undefined if none is there. */
export const readManifestHash = async (agentId: string): Promise<string | undefined> => {
  try {
    const bytes = await readOwnFile(AGENT_MANIFEST_FILE, { maxBytes: maxManifestBytes });
    const manifest: unknown = JSON.parse(bytes.toString());
    if ((manifest as { id?: unknown } | null)?.id !== agentId) return undefined;
    return sha256Digest(bytes);
  } catch {
    return undefined;
  }
};
