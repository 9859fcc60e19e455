import type { HarnessError } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import { McpError } from "./errors.ts";

const minuteMs = 60_000;

/** Passes on so many reports in a minute, and then says how many there were more: a server can cause any number. */
export class ReportBudget {
  readonly #maxReports: number;
  readonly #clock: Clock;
  readonly #report: (error: HarnessError) => void;
  #startedAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(maxReports: number, clock: Clock, report: (error: HarnessError) => void) {
    this.#maxReports = maxReports;
    this.#clock = clock;
    this.#report = report;
  }

  add(error: HarnessError): void {
    const now = this.#clock.now();
    if (now - this.#startedAt >= minuteMs) {
      const more = this.#count - this.#maxReports;
      if (more > 0) this.#report(new McpError("mcp.server_fault", `${more} further reports were left out`));
      this.#startedAt = now;
      this.#count = 0;
    }
    if (++this.#count <= this.#maxReports) this.#report(error);
  }
}
