import { type SummaryCounts, summarySize } from "@harnesskit/wire/replay";
import type { Style } from "../terminal/style.ts";

/** What a summary stands for, as a line above it. */
export const summaryLine = (summary: SummaryCounts, style: Style): string =>
  style.dim(`… ${summarySize(summary)} before this are no longer given to the model, but this summary:`);
