import type { AcpCall, AcpMethod } from "@harnesskit/agent-hooks/acp";
import { idKey, isRpcId, type RpcMessage } from "../proxy/rpc-message.ts";
import { type AcpPeers, codes, readCall, sendError } from "./acp-peers.ts";
import type { AcpSettings } from "./session-settings.ts";
import type { AcpSessions } from "./sessions.ts";

/** A request that is judged, or that the other side has. */
interface Open {
  readonly call: AcpCall;
  readonly abort: AbortController;
}

/** The requests of one side that have no answer yet, by the keys of their ids. */
export class OpenRequests<Request extends Open> extends Map<string, Request> {
  constructor(
    readonly side: "agent" | "editor",
    readonly peers: AcpPeers,
    readonly sessions: AcpSessions,
    readonly settings?: AcpSettings | undefined,
  ) {
    super();
  }

  /** What a request asks for. One that cannot be taken gets an error, whose sending is returned; one without an id is dropped. */
  read(method: AcpMethod, message: RpcMessage, isInUse = false): AcpCall | Promise<void> | undefined {
    const { limits, note, [this.side]: from } = this.peers;
    const { id } = message;
    if (id === undefined) {
      note(`the ${this.side} sent ${method} without an id: dropped`);
      return undefined;
    }
    if (typeof id === "number" && !isRpcId(id)) {
      const reason = "the id is not an integer that can be answered exactly";
      return sendError(from, null, codes.invalidRequest, reason);
    }
    if (isInUse || this.has(idKey(id))) return sendError(from, id, codes.invalidRequest, "the id is in use");
    if (this.size >= limits.maxCalls) {
      const reason = `harness guard: ${limits.maxCalls} requests are open already`;
      return sendError(from, id, codes.refused, reason);
    }
    return readCall(from, this.sessions, method, message, this.settings);
  }

  /** Gives up one request. False if it is not among these. */
  cancel(id: unknown): boolean {
    const open = this.get(idKey(id));
    open?.abort.abort();
    return open !== undefined;
  }

  /** Gives up what is judged for a session, or all: the hub withdraws its questions. */
  cancelAll(session?: string): void {
    for (const { call, abort } of this.values()) {
      if (session === undefined || call.sessionId === session) abort.abort();
    }
  }
}
