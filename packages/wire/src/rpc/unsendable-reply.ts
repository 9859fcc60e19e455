import type { HarnessError } from "../errors.ts";
import { toProtocolError } from "../protocol-error.ts";
import type { Reply, RpcReply } from "./message.ts";
import { defaultRpcErrors, type RpcErrors } from "./rpc-errors.ts";
import type { Call } from "./rpc-method.ts";

/**
 * The answer in place of one that cannot be sent; undefined if no other answer can help. Of a batch every result is replaced: one
 * has no JSON, or they are together too large.
 */
export const replaceUnsendable = <Context>(
  reply: RpcReply,
  error: HarnessError,
  method: string | undefined,
  errors: RpcErrors<Context>,
  report: (error: unknown, call: Pick<Call<Context>, "id" | "method">) => void,
): RpcReply | undefined => {
  const isBatch = !("jsonrpc" in reply);
  const name = isBatch ? "batch" : method;
  const call = { id: isBatch ? undefined : reply.id, method: name ?? "" };
  const plain = toProtocolError(error).toErrorObject();
  if (!isBatch && "error" in reply) {
    const { code, message, data } = reply.error;
    if (code === plain.code && message === plain.message && data === plain.data) return undefined;
    report(error, call);
    return { jsonrpc: "2.0", id: reply.id, error: plain };
  }
  if (isBatch && reply.every((each) => "error" in each)) return undefined;
  const worded = errors.unsendable(error, name) ?? defaultRpcErrors.unsendable(error, name);
  if (!worded) report(error, call);
  const replace = (each: Reply): Reply =>
    "error" in each ? each : { jsonrpc: "2.0", id: each.id, error: worded?.toErrorObject() ?? plain };
  return isBatch ? reply.map(replace) : replace(reply);
};
