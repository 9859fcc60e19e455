import type { Duplex } from "node:stream";
import { systemErrorCode } from "@harnesskit/node-kit";
import { commonHeaders } from "../server/answers.ts";
import type { Connection } from "./connection.ts";
import { refuseUpgrade } from "./upgrade-answer.ts";

const statusOf = (code: string | undefined): number => {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
};

/** Faults behind requests that are still handled, after which a client is cut off. */
const maxFaults = 64;

const answer = (socket: Duplex, code: string | undefined): void => {
  if (code === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseUpgrade(socket, { status: statusOf(code), headers: commonHeaders });
};

/**
 * Answers what is no HTTP request that can be read: 400, 408 or 431, behind the answers of the requests before it, and the connection is
 * closed. One that does not come to its end in time ends the connection at once: it may be one that is not read any more.
 */
export const answerClientFault = (error: Error, socket: Duplex, connection: Connection | undefined): void => {
  const code = systemErrorCode(error);
  if (!connection) {
    answer(socket, code);
    return;
  }
  connection.isEnding = true;
  connection.faults++;
  const isCutOff = code === "ERR_HTTP_REQUEST_TIMEOUT" && connection.isBusy;
  if (isCutOff || connection.faults > maxFaults) {
    socket.destroy();
    return;
  }
  connection.behindAnswers(() => {
    // It has its answer.
    if (connection.isAnsweredEarly) socket.end();
    else answer(socket, code);
  });
};
