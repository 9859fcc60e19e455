import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const everyRecord = async (store) => {
  const records = new Map();
  for (let afterSeq = 0; ; ) {
    const page = await store.page({ afterSeq });
    for (const record of page.records) records.set(record.id, record);
    if (page.records.length === 0) return records;
    afterSeq = page.nextSeq;
  }
};

/** The newest state of each row, as pages list them. */
export const everyRow = async (timeline) => {
  const rows = [];
  for (let beforeId; ; ) {
    const page = await timeline.page({ limit: 200, ...(beforeId && { beforeId }) });
    rows.push(...page.rows);
    beforeId = page.nextBeforeId;
    if (beforeId === undefined) return rows;
  }
};

/**
 * Compares what is stored with the effects that agents have had, and with what humans were told. Returns the problems and the figures.
 *
 * @param {{ approvals: object, timeline: object, directory: string, acknowledged: Map<string, string>, leftAlone: Iterable<string>, pages: object[] }} found
 */
export const check = async ({ approvals, timeline, directory, acknowledged, leftAlone, pages }) => {
  const problems = [];
  const records = await everyRecord(approvals);
  const effects = new Map();
  const file = join(directory, "effects");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
  for (const line of lines) {
    const [, id] = line.split(" ");
    effects.set(id, (effects.get(id) ?? 0) + 1);
  }
  for (const [id, count] of effects) {
    const record = records.get(id);
    if (count > 1) problems.push(`${id} has ${count} effects`);
    if (record?.status !== "approved") problems.push(`${id} has an effect and is ${record?.status}`);
    if (record?.effect === "none" || record?.effect === "failed")
      problems.push(`${id} has an effect and says ${record.effect}`);
  }
  for (const [id, status] of acknowledged) {
    const found = records.get(id)?.status;
    if (found !== status) problems.push(`${id} was acknowledged as ${status} and is ${found}`);
  }
  for (const id of leftAlone) {
    const found = records.get(id)?.status;
    if (found !== "pending") problems.push(`${id} was pending and is ${found}`);
  }
  for (const { id, effect } of records.values()) {
    if (effect === "done" && effects.get(id) !== 1)
      problems.push(`${id} says done and has ${effects.get(id) ?? 0} effects`);
  }
  const rows = await everyRow(timeline);
  const running = rows.filter(({ approval, state }) => approval !== undefined && state === "running").length;
  if (running > 0) problems.push(`${running} rows say running after the hubs were restarted`);
  for (const { approval, state } of rows) {
    if (approval !== undefined && state === "done" && effects.get(approval.id) !== 1)
      problems.push(`the row of ${approval.id} says done`);
  }
  for (const page of pages) {
    const missing = rows.filter(({ id, seq }) => seq > (page.rows.get(id) ?? 0) && seq <= page.lastSeq);
    if (missing.length > 0) problems.push(`a page has not seen the last change of ${missing.length} rows`);
  }
  return { problems, approvals: records.size, effects: lines.length };
};
