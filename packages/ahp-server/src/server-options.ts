import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import type { AuditRecorder } from "./audit-trail.ts";
import type { AhpHandlers } from "./handlers.ts";
import type { AhpServerLimits } from "./limits.ts";
import type { StateStore } from "./state/state-store.ts";

export interface AhpServerOptions<Context = unknown> {
  /** The policy. */
  readonly handlers: AhpHandlers<Context>;
  /** The harness's name in the handshake. */
  readonly name: string;
  /** Its version, in the handshake. */
  readonly version: string;
  /** @default see each limit */
  readonly limits?: Partial<AhpServerLimits> | undefined;
  /**
   * How long the handlers of one request may take, in milliseconds; a batch is one request. Not above `limits.timeoutMs`.
   * @default nine tenths of `limits.timeoutMs`, so that the agent learns why before it gives up by itself
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * The capabilities in the handshake.
   * @default pre_action, post_action, pre_prompt, query (with its handler), batch, run_lifecycle, task_list, verification,
   *   and every other event that has a handler; with `fallback` all that it handles
   */
  readonly capabilities?: readonly string[] | undefined;
  /**
   * Where runs, their tasks and their verifications are kept, so that they are there after a restart; closed with the
   * server. An event that it cannot keep is refused (-32603, `state_not_kept`). @default they live as long as the server
   */
  readonly stateStore?: StateStore | undefined;
  /** Where decisions, refusals and contract events are recorded. @default nowhere */
  readonly audit?: AuditRecorder | undefined;
  /**
   * Who sent a message, from what the transport knows. Principals are the same if they are the same string, or objects with
   * the same JSON. Over exchanges, messages go by the handshake of their session, else by the last one of the same principal, since the
   * protocol binds no session to a handshake; where there is no principal, only by that of their session.
   * @default the property `principal` of the context
   */
  readonly principalOf?: ((context: Context) => unknown) | undefined;
  /** Receives each handshake that succeeded. What it throws goes to `onError`. @default none */
  readonly onHandshake?: ((handshake: HandshakeParams, context: Context) => void) | undefined;
  /** Reports what agents do not see: what handlers threw, what could not be read or sent. What it throws is ignored. @default nothing is reported */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}
