import type { RequestId } from "@harnesskit/protocol/envelope";
import { answerBatch } from "./batch-requests.ts";
import { answerEvent, answerQuery } from "./event-requests.ts";
import { isSupportedVersion } from "./handshake.ts";
import { type Incoming, isIncoming, readableId } from "./incoming.ts";
import { takeEvent } from "./notifications.ts";
import type { Origin } from "./origin.ts";
import { readHandshake } from "./parse-params.ts";
import {
  errorReply,
  handlerFailure,
  handshakeRequired,
  invalidParams,
  invalidRequest,
  Refusal,
  unknownMethod,
  unsupportedVersion,
} from "./refusal.ts";
import { type Reply, resultReply, type ServerParts } from "./server-parts.ts";

const methods: ReadonlySet<string> = new Set(["ahp/handshake", "ahp/event", "ahp/query", "ahp/batch"]);

/** What a message means, wherever it came from. */
export class Dispatcher<Context> {
  readonly #parts: ServerParts<Context>;

  constructor(parts: ServerParts<Context>) {
    this.#parts = parts;
  }

  /** Takes one JSON value; gives its answer, now or later, or nothing. Never throws, and no promise of it rejects. */
  receive(message: unknown, origin: Origin<Context>): Reply | undefined | Promise<Reply | undefined> {
    try {
      return isIncoming(message) ? this.take(message, origin) : this.invalid(message);
    } catch (cause) {
      return this.broken(undefined, cause);
    }
  }

  /** As `receive`, for what is known to be a request or a notification. */
  take(message: Incoming, origin: Origin<Context>): Reply | undefined | Promise<Reply | undefined> {
    try {
      const { id } = message;
      if (id === undefined) return this.#notification(message, origin);
      const answer = this.#request(id, message, origin);
      return answer instanceof Promise ? answer.catch((cause) => this.broken(message, cause)) : answer;
    } catch (cause) {
      return this.broken(message, cause);
    }
  }

  /** Counts and records what arrived in place of a message, and words its answer. */
  malformed(refusal: Refusal): Reply {
    this.#parts.stats.invalidMessages++;
    this.#parts.audit.refused(undefined, undefined, undefined, refusal);
    return errorReply("", refusal);
  }

  /** The answer where the server itself failed. */
  broken(message: unknown, cause: unknown): Reply {
    this.#parts.onError(cause);
    const id = isIncoming(message) && message.id !== undefined ? message.id : "";
    return errorReply(id, handlerFailure("internal", "the harness failed"));
  }

  /** As `receive`, for what is known to be neither. */
  invalid(message: unknown): Reply {
    const refusal = Array.isArray(message)
      ? invalidRequest("batch_of_messages", "Arrays of messages are not offered: use ahp/batch")
      : invalidRequest("not_json_rpc", "Not a request or notification of JSON-RPC 2.0");
    const id = readableId(message);
    this.#parts.stats.invalidMessages++;
    this.#parts.audit.refused(undefined, id, undefined, refusal);
    return errorReply(id, refusal);
  }

  #request(id: RequestId, message: Incoming, origin: Origin<Context>): Reply | Promise<Reply> {
    const { stats, audit } = this.#parts;
    const { method, params } = message;
    stats.requests++;
    const answer = this.#obstacle(method, origin, id) ?? this.#answer(id, method, params, origin);
    if (!(answer instanceof Refusal)) return answer;
    stats.refusedRequests++;
    if (method === "ahp/handshake") stats.refusedHandshakes++;
    audit.refused(method, id, params, answer);
    return errorReply(id, answer);
  }

  #notification(message: Incoming, origin: Origin<Context>): Reply | undefined {
    const { stats, audit } = this.#parts;
    const { method, params } = message;
    stats.notifications++;
    const refusal =
      this.#obstacle(method, origin) ??
      (method === "ahp/event"
        ? takeEvent(this.#parts, params, origin)
        : invalidParams("request_expected", `${method} has to be a request`));
    if (!refusal) return undefined;
    stats.refusedNotifications++;
    if (isContract(params)) stats.contractsRejected++;
    audit.refused(method, undefined, params, refusal);
    return origin.answersNotifications ? errorReply("", refusal) : undefined;
  }

  /** What stands in the way before anything of the params is looked at. */
  #obstacle(method: string, origin: Origin<Context>, id?: RequestId): Refusal | undefined {
    if (!methods.has(method)) return unknownMethod(method);
    if (this.#parts.isClosed()) return handlerFailure("server_closed", "the harness is closed");
    if (id !== undefined && origin.isPending(id)) {
      return invalidRequest("duplicate_id", "A request with this id is being handled");
    }
    if (method !== "ahp/handshake" && origin.isStrange) return handshakeRequired();
    return origin.isFull ? handlerFailure("overloaded", "too many messages are being handled") : undefined;
  }

  #answer(
    id: RequestId,
    method: string,
    params: unknown,
    origin: Origin<Context>,
  ): Refusal | Reply | Promise<Reply> {
    switch (method) {
      case "ahp/event":
        return answerEvent(this.#parts, id, params, origin);
      case "ahp/batch":
        return answerBatch(this.#parts, id, params, origin);
      case "ahp/query":
        return answerQuery(this.#parts, id, params, origin);
      default:
        return this.#handshake(id, params, origin);
    }
  }

  /** One that is refused changes nothing: the handshake before it still holds. */
  #handshake(id: RequestId, params: unknown, origin: Origin<Context>): Refusal | Reply {
    const { limits, stats, audit, toHandshakeResult } = this.#parts;
    const handshake = readHandshake(params, limits);
    if (handshake instanceof Refusal) return handshake;
    if (!isSupportedVersion(handshake.protocol_version)) return unsupportedVersion();
    const result = toHandshakeResult(handshake, origin.context);
    origin.shake(handshake);
    stats.handshakes++;
    audit.handshake(handshake, id, handshake.protocol_version);
    return resultReply(id, result);
  }
}

const contracts: ReadonlySet<unknown> = new Set(["run_lifecycle", "task_list", "verification"]);

const isContract = (params: unknown): boolean =>
  typeof params === "object" &&
  params !== null &&
  contracts.has((params as { event_type?: unknown }).event_type);
