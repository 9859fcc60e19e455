import type { JsonObject } from "@harnesskit/protocol/envelope";
import { objectOf, type RpcId, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ProxiedAction } from "../proxy/rulings.ts";

/** A `tools/call` of the client. */
export interface ToolCall {
  readonly id: RpcId;
  readonly message: RpcMessage;
  readonly params: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
}

/** Reads the call; a string with what is wrong with it. */
export const readToolCall = (id: RpcId, message: RpcMessage): ToolCall | string => {
  const params = objectOf(message.params);
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string" || name === "") return "tools/call without the name of a tool";
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return "the arguments of tools/call are not an object";
  }
  return { id, message, params, name, arguments: given, meta: objectOf(params._meta) };
};

/** What a policy calls the tool: as the hooks of coding agents do. */
export const calledAction = (
  server: string,
  call: ToolCall,
  callId: string,
  annotations: JsonObject,
): ProxiedAction => {
  const isPlain = /^[\w.-]{1,128}$/.test(call.name);
  return {
    tool: isPlain ? `mcp__${server}__${call.name}` : `mcp:${server}:${call.name}`,
    callId,
    kind: isPlain ? "mcp" : "other",
    arguments: call.arguments,
    details: { server, mcp_tool: call.name, annotations },
  };
};

/** The message to the server, with the arguments that were decided; without the answer to a question of the proxy. */
export const forwardedCall = (
  { message, params, arguments: given }: ToolCall,
  args: JsonObject,
  isRepeated: boolean,
): RpcMessage => {
  const { inputResponses, requestState, ...others } = params;
  const kept = isRepeated ? others : params;
  return {
    ...message,
    params: { ...kept, ...(args !== given && { arguments: args }) },
  };
};

/** The result that tells the model why a call was not made. */
export const refusedCall = ({ id, meta }: ToolCall, reason: string): RpcMessage => ({
  jsonrpc: "2.0",
  id,
  result: {
    content: [{ type: "text", text: `Not called: ${reason}` }],
    isError: true,
    // Since the revision of 2026-07-28, which states itself in each request.
    ...(meta["io.modelcontextprotocol/protocolVersion"] !== undefined && { resultType: "complete" }),
  },
});
