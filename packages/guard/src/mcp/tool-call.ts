import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { JsonLine } from "@harnesskit/wire";
import {
  copyJson,
  defined,
  hasRepeatedNames,
  jsonDifference,
  maxMessageDepth,
  quoteRoundedNumbers,
} from "@harnesskit/wire/json";
import { editedLine } from "../proxy/exact-line.ts";
import { objectOf, type RpcId, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ProxiedAction } from "../proxy/rulings.ts";

/** A `tools/call` of the client. */
export interface ToolCall {
  readonly id: RpcId;
  /** What the server is sent of it, unless it is changed. */
  readonly line: JsonLine;
  /** As they are judged: numbers that JavaScript would round are strings of their digits. */
  readonly params: JsonObject;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Whether JavaScript holds all numbers of the line. */
  readonly isExact: boolean;
  readonly meta: JsonObject;
}

/**
 * Reads the call of a line; `text` is the line as it came. A string with what is wrong with it: it is sent on as it is, so nothing in it may be
 * another call for another reader, or be left out of what is judged.
 */
export const readToolCall = (id: RpcId, line: JsonLine, text: string): ToolCall | string => {
  if (hasRepeatedNames(text)) return "tools/call has two members of one name";
  const judged = quoteRoundedNumbers(line.text);
  const params = objectOf((JSON.parse(judged) as RpcMessage).params);
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string" || name === "") return "tools/call without the name of a tool";
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return "the arguments of tools/call are not an object";
  }
  // A copy has no `__proto__`, nor has what the harness gets.
  if (jsonDifference(given, copyJson(given, { maxDepth: maxMessageDepth })) !== undefined) {
    return "the arguments of tools/call have a member __proto__";
  }
  const isExact = judged === line.text;
  return { id, line, params, name, arguments: given, meta: objectOf(params._meta), isExact };
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

/** What the server is sent: the line, with the arguments that were decided and without the answer to a question of the proxy. */
export const forwardedCall = (
  { line, arguments: given }: ToolCall,
  args: JsonObject,
  isRepeated: boolean,
): JsonLine => {
  if (args === given && !isRepeated) return line;
  return editedLine(line, (message) => {
    const { inputResponses, requestState, ...others } = objectOf(message.params);
    const kept = isRepeated ? others : objectOf(message.params);
    return { ...message, params: { ...kept, ...(args !== given && { arguments: args }) } };
  });
};

/** The result that tells the model why a call was not made. */
export const refusedCall = ({ id, meta }: ToolCall, reason: string): RpcMessage => ({
  jsonrpc: "2.0",
  id,
  result: defined({
    content: [{ type: "text", text: `Not called: ${reason}` }],
    isError: true,
    // Since the revision of 2026-07-28, which states itself in each request.
    resultType: meta["io.modelcontextprotocol/protocolVersion"] !== undefined ? "complete" : undefined,
  }),
});
