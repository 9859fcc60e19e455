import { createHash, timingSafeEqual } from "node:crypto";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { RemoteClient } from "./core-server.ts";

const minLength = 32;

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** The clients of a core by the hashes of their tokens. */
export class KnownTokens {
  readonly #clients: readonly { readonly hash: Buffer; readonly client: RemoteClient }[];

  constructor(clients: readonly RemoteClient[]) {
    if (clients.some(({ token }) => token.length < minLength)) {
      throw new InvalidArgumentError(`clients: a token must have at least ${minLength} characters`);
    }
    this.#clients = clients.map((client) => ({ client, hash: hashOf(client.token) }));
  }

  /** The client of a token. The time that it takes says nothing of the token. */
  find(token: string): RemoteClient | undefined {
    const hash = hashOf(token);
    let found: RemoteClient | undefined;
    for (const known of this.#clients) if (timingSafeEqual(known.hash, hash)) found = known.client;
    return found;
  }
}
