import type { ErrorObject } from "@harnesskit/protocol/envelope";
import { stringifyMessage } from "../codec/json-text.ts";
import type { HarnessError } from "../errors.ts";
import { toProtocolError } from "../protocol-error.ts";
import type { Reply, RpcReply } from "./message.ts";
import { defaultRpcErrors, exceedsFrame, type RpcErrors } from "./rpc-errors.ts";
import type { Call } from "./rpc-method.ts";

interface Wording<Context> {
  readonly errors: RpcErrors<Context>;
  readonly report: (error: unknown, call: Pick<Call<Context>, "id" | "method">) => void;
}

const hasJson = (message: unknown): boolean => {
  try {
    stringifyMessage(message);
    return true;
  } catch {
    return false;
  }
};

/**
 * The answer in place of one that cannot be sent; undefined if no other answer can help. Of a batch only results that are
 * together too large are replaced, and what has no JSON.
 */
export const replaceUnsendable = <Context>(
  reply: RpcReply,
  error: HarnessError,
  method: string | undefined,
  { errors, report }: Wording<Context>,
): RpcReply | undefined => {
  const isBatch = !("jsonrpc" in reply);
  const call = { id: isBatch ? undefined : reply.id, method: isBatch ? "batch" : (method ?? "") };
  const plain = toProtocolError(error).toErrorObject();
  const replace = ({ id }: Reply, instead: ErrorObject): Reply => ({ jsonrpc: "2.0", id, error: instead });

  if (!isBatch && "error" in reply) {
    const { code, message, data } = reply.error;
    if (code === plain.code && message === plain.message && data === plain.data) return undefined;
    report(error, call);
    return replace(reply, plain);
  }
  const mustGo = (each: Reply): boolean => (exceedsFrame(error) && !("error" in each)) || !hasJson(each);
  if (isBatch && !reply.some(mustGo)) return undefined;
  const worded =
    errors.unsendable(error, isBatch ? "batch" : method) ?? defaultRpcErrors.unsendable(error, method);
  if (!worded) report(error, call);
  const instead = worded?.toErrorObject() ?? plain;
  return isBatch
    ? reply.map((each) => (mustGo(each) ? replace(each, instead) : each))
    : replace(reply, instead);
};
