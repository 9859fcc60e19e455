import {
  AHP_VERSION,
  type AhpEventType,
  ahpEvents,
  defaultHarnessCapabilities,
  type HandshakeResult,
} from "@harnesskit/protocol/ahp";
import type { ResolvedLimits } from "./limits.ts";

const versionShape = /^\d{1,9}(?:\.\d+)*$/;

/** Whether a handshake of this version may go on: the major number is the same, whatever follows it. */
export const isSupportedVersion = (version: string): boolean =>
  versionShape.test(version) && Number.parseInt(version, 10) === Number.parseInt(AHP_VERSION, 10);

/**
 * What a harness says that it can do: the protocol's default, without `query` where nobody answers one, and the events
 * with a decision of their own that have a handler.
 */
export const toCapabilities = (handles: (name: AhpEventType | "query") => boolean): string[] => {
  const capabilities: string[] = defaultHarnessCapabilities.filter(
    (name) => name !== "query" || handles("query"),
  );
  for (const type of Object.keys(ahpEvents) as AhpEventType[]) {
    if (ahpEvents[type].specialised && handles(type)) capabilities.push(type);
  }
  return capabilities;
};

/** The answer to a handshake; the same for all but for its token. */
export const toHandshakeResult = (
  info: HandshakeResult["harness_info"],
  limits: ResolvedLimits,
): HandshakeResult => ({
  protocol_version: AHP_VERSION,
  harness_info: info,
  config: { timeout_ms: limits.timeoutMs, batch_size: limits.batchSize, max_depth: limits.maxDepth },
});
