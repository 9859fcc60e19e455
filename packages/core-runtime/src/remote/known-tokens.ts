import { sha256Hex } from "@harnesskit/node-kit";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { RemoteClient } from "./core-server.ts";

const minLength = 32;

/** Finds the client of a token by its hash: how long a look-up of a hash takes says nothing of a token. */
export const knownTokens = (clients: readonly RemoteClient[]) => {
  if (clients.some(({ token }) => token.length < minLength)) {
    throw new InvalidArgumentError(`clients: a token must have at least ${minLength} characters`);
  }
  const byHash = new Map(clients.map((client) => [sha256Hex(client.token), client]));
  return (token: string): RemoteClient | undefined => byHash.get(sha256Hex(token));
};
