import { timingSafeEqual } from "node:crypto";
import { InvalidArgumentError } from "@harnesskit/wire";
import { tokenHash } from "../admissions.ts";
import type { RemoteClient } from "./core-server.ts";

const minLength = 32;

/** Finds the client of a token by the hashes of all tokens. The time that it takes says nothing of the token. */
export const knownTokens = (clients: readonly RemoteClient[]) => {
  if (clients.some(({ token }) => token.length < minLength)) {
    throw new InvalidArgumentError(`clients: a token must have at least ${minLength} characters`);
  }
  const hashes = clients.map((client) => ({ client, hash: tokenHash(client.token) }));
  return (token: string): RemoteClient | undefined => {
    const hash = tokenHash(token);
    let found: RemoteClient | undefined;
    for (const known of hashes) if (timingSafeEqual(known.hash, hash)) found = known.client;
    return found;
  };
};
