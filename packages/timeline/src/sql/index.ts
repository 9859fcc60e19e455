export {
  addRule,
  addSession,
  changingColumns,
  insertRule,
  insertSession,
  rowColumns,
  ruleColumns,
  type SqlColumns,
  type SqlKey,
  type SqlValue,
  sessionColumns,
} from "./columns.ts";
export {
  forgetNames,
  oldRows,
  oldValues,
  type SqlResult,
  SqlTimeline,
  type TimelineDialect,
} from "./sql-timeline.ts";
export { keptColumns, losableRows, wantedRows } from "./wanted-rows.ts";
