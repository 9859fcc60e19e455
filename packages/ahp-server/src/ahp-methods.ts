import type { HandshakeParams, QueryParams } from "@harnesskit/protocol/ahp";
import { callSafely } from "@harnesskit/wire";
import type { RpcMethods } from "@harnesskit/wire/rpc";
import type { AgentOrigin } from "./agent-origin.ts";
import { createBatchMethod } from "./batch-method.ts";
import { createEventNotification, createEventRequest } from "./event-methods.ts";
import { isSupportedVersion } from "./handshake.ts";
import { EventCall, type Method, type MethodParts, requireHandshake, resultOrError } from "./method-parts.ts";
import { readHandshake, readQuery } from "./read-params.ts";
import { invalidParams, unknownMethod, unsupportedVersion } from "./refusal.ts";

/** One that is refused changes nothing: the handshake before it still holds. */
const createHandshake = <Context>(parts: MethodParts<Context>): Method<HandshakeParams, Context> => {
  const { limits, audit, handshakeResult, onHandshake, onError } = parts;
  return {
    read(params) {
      const handshake = readHandshake(params, limits);
      if (!isSupportedVersion(handshake.protocol_version)) throw unsupportedVersion();
      return handshake;
    },
    handle(handshake, { context: origin }) {
      origin.accept(handshake);
      return handshakeResult;
    },
    settled(outcome, handshake, { id, context: origin }) {
      if ("error" in outcome) return;
      audit.handshake(handshake, id, handshake.protocol_version);
      callSafely(() => onHandshake?.(handshake, origin.context), onError);
    },
  };
};

interface AcceptedQuery {
  readonly query: QueryParams;
  readonly handshake: HandshakeParams;
  startedAt: number;
}

const createQuery = <Context>(parts: MethodParts<Context>): Method<AcceptedQuery, Context> => {
  const { limits, clock, decider, audit } = parts;
  return {
    read(params, call) {
      const query = readQuery(params, limits);
      return { query, handshake: requireHandshake(call, query.session_id), startedAt: clock.elapsedMs() };
    },
    handle: ({ query, handshake }, call) => decider.query(query, new EventCall(call, handshake)),
    settled(outcome, { query, startedAt }, { id }) {
      audit.query(query, resultOrError(outcome), {
        requestId: id,
        durationMs: clock.elapsedMs() - startedAt,
      });
    },
  };
};

/** The methods of AHP: what each accepts, what answers it, and what is recorded of it. */
export const createAhpMethods = <Context>(
  parts: MethodParts<Context>,
): {
  readonly methods: RpcMethods<AgentOrigin<Context>>;
  readonly notifications: RpcMethods<AgentOrigin<Context>>;
} => {
  const methods: Readonly<Record<string, Method<unknown, Context>>> = {
    "ahp/handshake": createHandshake(parts),
    "ahp/event": createEventRequest(parts),
    "ahp/query": createQuery(parts),
    "ahp/batch": createBatchMethod(parts),
  };
  const event = createEventNotification(parts);
  const requestsOnly: Method<unknown, Context> = {
    read(_params, { method }) {
      throw invalidParams("request_expected", `${method} must be a request`);
    },
    handle: () => {},
  };
  return {
    methods,
    notifications(name) {
      if (name === "ahp/event") return event;
      if (Object.hasOwn(methods, name)) return requestsOnly;
      throw unknownMethod(name);
    },
  };
};
