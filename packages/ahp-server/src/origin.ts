import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { RequestId } from "@harnesskit/protocol/envelope";
import type { PendingCall } from "./pending-call.ts";

/** Where a message came from: a connection, or one exchange. */
export interface Origin<Context> {
  readonly context: Context;
  /** Who sent it, as the transport says. */
  readonly principal: unknown;
  /** The same text for the same principal. */
  readonly owner: string;
  /** Whether a notification that is refused gets an answer. */
  readonly answersNotifications: boolean;
  /** Whether no handshake was done that any message could go by. */
  readonly isStrange: boolean;
  /** Whether nothing more can be taken on. */
  readonly isFull: boolean;
  /** The handshake that messages of this session go by. */
  handshakeOf(sessionId: string): HandshakeParams | undefined;
  /** A handshake succeeded. */
  shake(handshake: HandshakeParams): void;
  /** Whether a request with this id is being handled. */
  isPending(id: RequestId): boolean;
  /** Names the line in which the notifications of a session wait for each other. */
  laneOf(sessionId: string): string;
  /** A request waits for its handler. */
  begin(call: PendingCall<Context>): void;
  /** It does not any more. */
  finish(call: PendingCall<Context>): void;
  /** A notification waits for its turn or its handler. */
  hold(): void;
  /** It does not any more. */
  release(): void;
}
