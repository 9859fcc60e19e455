import type { Duplex } from "node:stream";
import { commonHeaders } from "../server/answers.ts";
import { systemErrorCode } from "./system-error.ts";
import { refuseUpgrade } from "./upgrade-answer.ts";

const statusOf = (code: string | undefined): number => {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
};

/** Answers what is no HTTP request that can be read: 400, 408 or 431, and the connection is closed. */
export const answerClientFault = (error: Error, socket: Duplex): void => {
  if (systemErrorCode(error) === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseUpgrade(socket, { status: statusOf(systemErrorCode(error)), headers: commonHeaders });
};
