import { checkNumber } from "@harnesskit/wire";
import type { Host } from "./host.ts";

const marginMs = 2000;

/**
 * How long a guard may take for one hook: two seconds less than the host waits, and half of a wait below four seconds.
 *
 * @param timeoutMs what the host's settings say, in milliseconds; default: the host's own default
 */
export const deadlineMs = (host: Host, timeoutMs: number = host.timing.defaultMs): number => {
  checkNumber("timeoutMs", timeoutMs);
  return Math.max(timeoutMs - marginMs, Math.floor(timeoutMs / 2));
};
