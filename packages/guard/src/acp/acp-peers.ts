import { randomUUID } from "node:crypto";
import { type AcpCall, type AcpMethod, readAcp } from "@harnesskit/agent-hooks/acp";
import { sha256Digest } from "@harnesskit/node-kit";
import { type JsonObject, JsonRpcErrorCode, type JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  type Clock,
  ConnectionClosedError,
  HarnessError,
  type JsonLine,
} from "@harnesskit/wire";
import type { ActionJudge } from "../proxy/action-judge.ts";
import type { BesideWork } from "../proxy/beside-work.ts";
import { exactLine } from "../proxy/exact-line.ts";
import type { ProxyLimits } from "../proxy/limits.ts";
import { objectOf, type RpcMessage, rpcError } from "../proxy/rpc-message.ts";
import type { ProxiedAction } from "../proxy/rulings.ts";
import type { AcpSettings } from "./session-settings.ts";
import type { AcpSessions } from "./sessions.ts";

export const codes = {
  parseError: JsonRpcErrorCode.ParseError,
  invalidRequest: JsonRpcErrorCode.InvalidRequest,
  invalidParams: JsonRpcErrorCode.InvalidParams,
  internalError: JsonRpcErrorCode.InternalError,
  /** `RequestCancelled`, as in LSP. */
  cancelled: -32800,
  /** Of the implementation: the guard refuses. */
  refused: -32000,
} as const;

/** What an edit would change, by its arguments as policies see them and the directory of its session, an absolute path. */
export type EditPreview = (given: JsonObject, workspace: string) => Promise<string | undefined>;

/** What the parts of an ACP proxy share: the two sides, and who decides. */
export interface AcpPeers {
  readonly editor: Channel;
  readonly agent: Channel;
  readonly judge: ActionJudge;
  readonly previewOf: EditPreview | undefined;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly note: (line: string) => void;
  readonly work: BesideWork;
}

/** Passes a line on; the reason where that fails. */
export const pass = async (to: Channel, line: JsonLine): Promise<string | undefined> => {
  try {
    await to.send(line);
    return undefined;
  } catch (error) {
    if (ConnectionClosedError.isInstance(error)) return "the other side has ended";
    return HarnessError.isInstance(error) ? error.message : "it could not be sent";
  }
};

/** Sends a message of our own; a side that is gone needs nothing any more. */
export const say = async (to: Channel, message: RpcMessage): Promise<void> => {
  await pass(to, exactLine(message));
};

export const sendResult = (to: Channel, id: JsonValue, result: JsonValue): Promise<void> =>
  say(to, { jsonrpc: "2.0", id, result });

export const sendError = (to: Channel, id: JsonValue, code: number, message: string): Promise<void> =>
  say(to, rpcError(id, code, message));

/** What a request asks for; where it cannot be read, its sender gets an error, whose sending is returned. */
export const readCall = (
  from: Channel,
  sessions: AcpSessions,
  method: AcpMethod,
  { id = null, params }: RpcMessage,
  settings?: AcpSettings,
): AcpCall | Promise<void> => {
  try {
    const { sessionId } = objectOf(params);
    const session = typeof sessionId === "string" ? sessionId : "";
    return readAcp(method, params, {
      workspace: sessions.workspaceOf(session),
      agent: sessions.agent,
      categoryOf: (option) => settings?.get(session, option)?.category,
      digest: sha256Digest,
    });
  } catch (error) {
    const reason = HarnessError.isInstance(error) ? error.message : "the parameters cannot be read";
    return sendError(from, id, codes.invalidParams, reason);
  }
};

/** The action of a request, as the harness is asked about it. */
export const proxiedAction = ({ action, sessionId, metadata }: AcpCall): ProxiedAction => ({
  tool: action?.tool ?? "acp:other",
  kind: action?.kind ?? "other",
  callId: randomUUID(),
  arguments: objectOf(action?.arguments),
  session: sessionId,
  details: action?.server === undefined ? undefined : { server: action.server },
  metadata,
});
