import {
  AHP_VERSION,
  type AhpEventType,
  ahpEvents,
  defaultHarnessCapabilities,
  type HandshakeResult,
} from "@harnesskit/protocol/ahp";
import type { AhpServerLimits } from "./limits.ts";
import type { AhpServerOptions } from "./server-options.ts";

const versionShape = /^\d{1,9}(?:\.\d+)*$/;

/** Whether a handshake of this version may go on: the major number is the same, whatever follows it. */
export const isSupportedVersion = (version: string): boolean =>
  versionShape.test(version) && Number.parseInt(version, 10) === Number.parseInt(AHP_VERSION, 10);

/**
 * What a harness says that it can do: the protocol's default, without `query` where no handler answers one, and every
 * other event that a handler answers, its own or the fallback.
 */
const toCapabilities = (handles: (name: AhpEventType | "query" | "fallback") => boolean): string[] => {
  const capabilities = new Set<string>(
    defaultHarnessCapabilities.filter((name) => name !== "query" || handles("query")),
  );
  for (const type of Object.keys(ahpEvents) as AhpEventType[]) {
    if (handles(type) || (ahpEvents[type].batchable && handles("fallback"))) capabilities.add(type);
  }
  return [...capabilities];
};

/** The answer to every handshake. */
export const toHandshakeResult = <Context>(
  { name, version, handlers, capabilities }: AhpServerOptions<Context>,
  limits: AhpServerLimits,
): HandshakeResult => {
  const offered = capabilities ?? toCapabilities((handler) => handlers[handler] !== undefined);
  return {
    protocol_version: AHP_VERSION,
    harness_info: { name, version, capabilities: [...offered] },
    config: { timeout_ms: limits.timeoutMs, batch_size: limits.batchSize, max_depth: limits.maxDepth },
  };
};
