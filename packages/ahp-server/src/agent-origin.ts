import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import { joinKey, principalKey } from "@harnesskit/wire";
import type { Handshakes } from "./handshakes.ts";

export interface AgentOriginOptions<Context> {
  readonly principalOf: (context: Context) => unknown;
  /** Of a connection: a name that no other one of the server has. */
  readonly label?: string;
  /** Of an exchange: where the handshakes of its principal's former exchanges are. */
  readonly handshakes?: Handshakes;
}

/**
 * Where messages come from. Of a connection the last handshake holds for every session on it; one exchange goes by the handshakes of its
 * principal's former exchanges.
 */
export class AgentOrigin<Context> {
  readonly #options: AgentOriginOptions<Context>;
  #handshake: HandshakeParams | undefined;
  #owner: string | undefined;

  constructor(
    readonly context: Context,
    options: AgentOriginOptions<Context>,
  ) {
    this.#options = options;
  }

  /** The sender, as the transport says. Throws what `principalOf` throws. */
  get principal(): unknown {
    return this.#options.principalOf(this.context);
  }

  /** The same string for the same principal. Throws what `principalOf` throws, and `invalid_argument` for a principal that has no JSON. */
  get owner(): string {
    this.#owner ??= principalKey(this.principal);
    return this.#owner;
  }

  /** Whether nothing but a handshake is accepted yet. */
  get needsHandshake(): boolean {
    return this.#options.handshakes === undefined && this.#handshake === undefined;
  }

  /** The handshake that applies to messages of this session. */
  handshakeOf(sessionId: string): HandshakeParams | undefined {
    const { handshakes } = this.#options;
    return handshakes === undefined ? this.#handshake : handshakes.get(this.owner, sessionId);
  }

  /** A handshake succeeded. */
  accept(handshake: HandshakeParams): void {
    this.#handshake = handshake;
    this.#options.handshakes?.set(this.owner, handshake);
  }

  /** Names the lane in which the notifications of a session wait for each other. */
  laneOf(sessionId: string): string {
    return joinKey(this.#options.label ?? `exchange ${this.owner}`, sessionId);
  }
}
