import type { HttpCredentials } from "@harnesskit/transport-http";
import { usageError } from "../cli-error.ts";
import { readClientToken } from "./token.ts";

/** What a client shows to a harness over HTTP or WebSocket. */
export interface HarnessAccess {
  readonly credentials?: HttpCredentials;
  /** Whether they stand in the URL of a WebSocket, and not in a header. */
  readonly inQuery?: boolean;
}

export interface AccessOptions {
  readonly tokenFile?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly credentialsInQuery?: boolean | undefined;
}

/**
 * The credentials that a client shows: a token or an API key, of a file or else of HARNESS_AHP_TOKEN or HARNESS_AHP_API_KEY;
 * none where neither is given. Throws a usage error for two of them, and for files that cannot be read.
 */
export const readAccess = async (
  { tokenFile, apiKeyFile, credentialsInQuery = false }: AccessOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<HarnessAccess> => {
  const isNamed = tokenFile !== undefined || apiKeyFile !== undefined;
  // A file that is named counts, whatever the environment has.
  const of = (file: string | undefined, variable: string, option: string) =>
    isNamed && file === undefined ? undefined : readClientToken(file, { variable, env, option });
  const bearer = await of(tokenFile, "HARNESS_AHP_TOKEN", "--token-file");
  const apiKey = await of(apiKeyFile, "HARNESS_AHP_API_KEY", "--api-key-file");
  if (bearer !== undefined && apiKey !== undefined) {
    throw usageError(
      isNamed
        ? "--token-file and --api-key-file: give one of them"
        : "HARNESS_AHP_TOKEN and HARNESS_AHP_API_KEY are both set",
      "A harness is shown one credential",
    );
  }
  const credentials = bearer !== undefined ? { bearer } : apiKey !== undefined ? { apiKey } : undefined;
  if (credentials !== undefined) return { credentials, inQuery: credentialsInQuery };
  if (!credentialsInQuery) return {};
  throw usageError(
    "--credentials-in-query: there is no credential",
    "Name it: --token-file FILE or --api-key-file FILE",
  );
};
