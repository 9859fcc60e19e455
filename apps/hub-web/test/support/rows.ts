import type { NewRow, TimelineChange, TimelineStore } from "@harnesskit/timeline";

const tools = ["read", "bash", "write"] as const;
const states = ["done", "failed", "refused", "done", "done"] as const;
const batch = 1000;

const rowAt = (index: number, atMs: number): NewRow => {
  const tool = tools[index % tools.length] ?? "read";
  const state = states[index % states.length] ?? "done";
  const decision = state === "refused" ? "block" : "allow";
  return {
    type: "pre_action",
    atMs,
    agent: `agent-${Math.floor(index / 7) % 3}`,
    session: `session-${Math.floor(index / 7) % 5}`,
    turn: `${Math.floor(index / 7)}`,
    depth: 0,
    tool,
    summary: `${tool} file-${index}.txt`,
    state,
    decision: { decision, source: "rule", rule: "some-rule" },
    ...(state === "failed" && { outcome: "exit code 1" }),
    endedAtMs: atMs + 10,
    durationMs: 10,
  };
};

/** Adds rows to a timeline, as if agents had acted. */
export const addRows = async (timeline: TimelineStore, count: number): Promise<void> => {
  const startMs = Date.now() - count * 100;
  for (let at = 0; at < count; at += batch) {
    const changes = Array.from(
      { length: Math.min(batch, count - at) },
      (_, index): TimelineChange => ({
        type: "add",
        row: rowAt(at + index, startMs + (at + index) * 100),
        content: {},
      }),
    );
    await timeline.write(changes);
  }
};
