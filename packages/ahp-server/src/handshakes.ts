import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import { BoundedMap, noPrincipalKey } from "@harnesskit/wire";

/** Credentials whose handshakes are remembered. */
const maxOwners = 10_000;

interface Sessions {
  readonly byId: BoundedMap<string, HandshakeParams>;
  last: HandshakeParams;
}

/**
 * The handshakes of exchanges, by credential and session, because the protocol binds no session to a connection there. A session without
 * a handshake of its own goes by the last one of its credential; without a credential by none. The session used longest ago goes first,
 * of its own credential.
 */
export class Handshakes {
  readonly #owners = new BoundedMap<string, Sessions>({ maxSize: maxOwners });
  readonly #maxSessions: number;

  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  get(owner: string, sessionId: string): HandshakeParams | undefined {
    const sessions = this.#owners.touch(owner);
    const own = sessions?.byId.touch(sessionId);
    return own ?? (owner === noPrincipalKey ? undefined : sessions?.last);
  }

  set(owner: string, handshake: HandshakeParams): void {
    const maxSize = this.#maxSessions;
    const sessions = this.#owners.touch(owner) ?? { byId: new BoundedMap({ maxSize }), last: handshake };
    this.#owners.set(owner, sessions);
    sessions.last = handshake;
    sessions.byId.delete(handshake.session_id);
    sessions.byId.set(handshake.session_id, handshake);
  }
}
