import type { NewRow, StoredContent, TimelineChange } from "../timeline-store.ts";

/** A running action; `fields` replace its own. */
export const sampleRow = (fields: Partial<NewRow> = {}): NewRow => ({
  type: "pre_action",
  atMs: 1_700_000_000_000,
  agent: "codex",
  session: "s1",
  depth: 0,
  tool: "bash",
  summary: "bash npm test",
  state: "running",
  decision: { decision: "allow", source: "rule", rule: "tests", reason: "tests are allowed" },
  ...fields,
});

export const sampleContent: StoredContent = {
  event: { value: { metadata: { workspace: "/repo" }, payload: { tool_name: "bash" } }, isCut: false },
};

/** The change that adds the row. */
export const addRow = (fields: Partial<NewRow> = {}, key?: string): TimelineChange => ({
  type: "add",
  key,
  row: sampleRow(fields),
  content: sampleContent,
});
