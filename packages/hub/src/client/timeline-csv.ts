import type { TimelineRow } from "@harnesskit/protocol/hub";

/** What becomes a column, by its name in the header. */
const columns: Readonly<Record<string, (row: TimelineRow) => string | number | undefined>> = {
  id: ({ id }) => id,
  time: ({ atMs }) => new Date(atMs).toISOString(),
  agent: ({ agent }) => agent,
  session: ({ session }) => session,
  turn: ({ turn }) => turn,
  subagent: ({ subagent }) => subagent,
  type: ({ type }) => type,
  tool: ({ tool }) => tool,
  summary: ({ summary }) => summary,
  state: ({ state }) => state,
  decision: ({ decision }) => decision?.decision,
  rule: ({ decision }) => decision?.rule,
  reason: ({ decision }) => decision?.reason,
  approval: ({ approval }) => approval?.status,
  answered_by: ({ approval }) => approval?.by,
  risk: ({ approval }) => approval?.risk,
  duration_ms: ({ durationMs }) => durationMs,
  outcome: ({ outcome }) => outcome,
};

/** A value of RFC 4180. One that a spreadsheet would take for a formula gets an apostrophe before it: it comes from an agent. */
const csvValue = (value: string | number | undefined): string => {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csvLine = (values: readonly (string | number | undefined)[]): string =>
  `${values.map(csvValue).join(",")}\r\n`;

/** The names of the columns, as the first line of CSV. */
export const csvHeader: string = csvLine(Object.keys(columns));

/** A row as a line of CSV. */
export const csvRow = (row: TimelineRow): string => csvLine(Object.values(columns).map((read) => read(row)));
