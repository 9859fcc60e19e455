import { boundedResult } from "../proxy/bounded-result.ts";
import { objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ActionOutcome } from "../proxy/rulings.ts";

/** What came of a call, by the server's answer. */
export const callOutcome = ({ error, result }: RpcMessage, maxReportBytes: number): ActionOutcome => {
  if (error !== undefined) {
    const { message } = objectOf(error);
    return { outcome: "error", error: typeof message === "string" ? message.slice(0, 2000) : "error" };
  }
  const shown = boundedResult(result ?? null, maxReportBytes);
  return objectOf(result).isError === true
    ? { outcome: "error", error: "the tool reports an error", result: shown }
    : { outcome: "success", result: shown };
};
