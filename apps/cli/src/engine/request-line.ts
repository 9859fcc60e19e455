import type { ShellLogLine } from "@harnesskit/shell-engine";
import { formatDuration } from "../terminal/duration.ts";
import { oneLine } from "../terminal/one-line.ts";

const part = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name} ${oneLine(value, 80)}`];

/** A line of the engine's log as people read it: safe text, of ids and outcomes alone. */
export const requestLine = (line: ShellLogLine): string => {
  const { event, outcome, error_code: code, duration_ms: durationMs, action_types: types = [] } = line;
  if (event !== "request") return oneLine(event, 80);
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sent = [...counts].slice(0, 5).map(([type, count]) => `${count} ${oneLine(type, 60)}`);
  const what = outcome === "error" ? `error ${oneLine(code ?? "", 80)}` : sent.join(", ") || "nothing to do";
  const again = line.is_replay ? " (again)" : "";
  const took = durationMs === undefined ? "" : ` in ${formatDuration(durationMs)}`;
  const where = [
    ...part("session", line.session_id),
    ...part("thread", line.conversation_id),
    ...part("request", line.request_id),
    ...part("shell", line.shell_kind),
  ];
  return [`${what}${again}${took}`, ...where].join("; ");
};
