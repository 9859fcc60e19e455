import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import { joinKey, principalKey } from "@harnesskit/wire";
import type { SessionsByOwner } from "./sessions-by-owner.ts";

/** Where messages come from: a connection, or one exchange. */
export interface AgentOrigin<Context> {
  readonly context: Context;
  /** The sender, as the transport says. */
  readonly principal: unknown;
  /** The same string for the same principal. */
  readonly owner: string;
  /** Whether nothing but a handshake is accepted yet. */
  readonly needsHandshake: boolean;
  /** The handshake that applies to messages of this session. */
  handshakeOf(sessionId: string): HandshakeParams | undefined;
  /** A handshake succeeded. */
  accept(handshake: HandshakeParams): void;
  /** Names the lane in which the notifications of a session wait for each other. */
  laneOf(sessionId: string): string;
}

/** A connection: its last handshake applies to every session on it. */
export class ConnectionOrigin<Context> implements AgentOrigin<Context> {
  readonly owner: string;
  #handshake: HandshakeParams | undefined;

  /**
   * Throws `invalid_argument` for a principal that has no JSON.
   *
   * @param label A name that no other connection of the server has.
   */
  constructor(
    readonly label: string,
    readonly context: Context,
    readonly principal: unknown,
  ) {
    this.owner = principalKey(principal);
  }

  get needsHandshake(): boolean {
    return this.#handshake === undefined;
  }

  handshakeOf(): HandshakeParams | undefined {
    return this.#handshake;
  }

  accept(handshake: HandshakeParams): void {
    this.#handshake = handshake;
  }

  laneOf(sessionId: string): string {
    return joinKey(this.label, sessionId);
  }
}

/** One exchange: the handshakes of its principal's former exchanges apply. */
export class ExchangeOrigin<Context> implements AgentOrigin<Context> {
  readonly needsHandshake = false;
  readonly #sessions: SessionsByOwner;
  readonly #principalOf: (context: Context) => unknown;
  #owner: string | undefined;

  constructor(
    readonly context: Context,
    principalOf: (context: Context) => unknown,
    sessions: SessionsByOwner,
  ) {
    this.#principalOf = principalOf;
    this.#sessions = sessions;
  }

  /** Throws what `principalOf` throws. */
  get principal(): unknown {
    return this.#principalOf(this.context);
  }

  /** Throws what `principalOf` throws, and `invalid_argument` for a principal that has no JSON. */
  get owner(): string {
    this.#owner ??= principalKey(this.principal);
    return this.#owner;
  }

  handshakeOf(sessionId: string): HandshakeParams | undefined {
    return this.#sessions.get(this.owner, sessionId);
  }

  accept(handshake: HandshakeParams): void {
    this.#sessions.set(this.owner, handshake);
  }

  laneOf(sessionId: string): string {
    return `exchange ${joinKey(this.owner, sessionId)}`;
  }
}
