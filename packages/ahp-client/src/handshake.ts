import {
  AHP_VERSION,
  AhpErrorCode,
  type HandshakeParams,
  type HandshakeResult,
  HandshakeResultSchema,
} from "@harnesskit/protocol/ahp";
import { displayText } from "@harnesskit/wire";
import type { RpcConnection, SessionWait } from "@harnesskit/wire/rpc";
import { AhpFailure, firstIssue, toFailure } from "./errors.ts";

/** The part of a version that must agree. */
const majorVersionOf = (version: string): string | undefined => /^(\d{1,9})(?:\.|$)/.exec(version)?.[1];

const mismatch = (version: string, cause?: unknown): AhpFailure =>
  new AhpFailure(
    "version_mismatch",
    `the harness speaks version ${displayText(version, { maxLength: 50 })} of the protocol, this client ${AHP_VERSION}`,
    cause === undefined ? {} : { cause },
  );

/** Says who the agent is, and checks that the harness speaks the same major version. Rejects with an {@link AhpFailure}. */
export const shakeHands = async (
  connection: RpcConnection,
  params: HandshakeParams,
  wait: SessionWait,
): Promise<HandshakeResult> => {
  let answer: unknown;
  try {
    answer = await connection.request("ahp/handshake", params, wait);
  } catch (error) {
    const failure = toFailure(error);
    if (failure.rpcCode !== AhpErrorCode.UnsupportedVersion) throw failure;
    const { rpcCode, rpcMessage = "" } = failure;
    throw new AhpFailure("version_mismatch", failure.message, { cause: error, rpcCode, rpcMessage });
  }
  const parsed = HandshakeResultSchema.safeParse(answer);
  if (!parsed.success) {
    const text = `the answer to the handshake is not valid: ${firstIssue(parsed.error)}`;
    throw new AhpFailure("invalid_answer", text, {
      cause: parsed.error,
    });
  }
  if (majorVersionOf(parsed.data.protocol_version) !== majorVersionOf(AHP_VERSION)) {
    throw mismatch(parsed.data.protocol_version);
  }
  return parsed.data;
};
