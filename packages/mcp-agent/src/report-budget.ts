import type { HarnessError } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import { McpError } from "./errors.ts";

const minuteMs = 60_000;

/** Passes on so many reports in a minute, and then says how many there were more: a server can cause any number. */
export const limitReports = (maxReports: number, clock: Clock, report: (error: HarnessError) => void) => {
  let startedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (error: HarnessError): void => {
    const now = clock.elapsedMs();
    if (now - startedAt >= minuteMs) {
      const more = count - maxReports;
      if (more > 0) report(new McpError("mcp.server_fault", `${more} further reports were left out`));
      startedAt = now;
      count = 0;
    }
    if (++count <= maxReports) report(error);
  };
};
