import { isObject } from "@harnesskit/wire/json";
import { cardField, cardLine, cellText, firstOf } from "./values.ts";

export interface TableColumn {
  readonly label: string;
  /** Whether it holds numbers and nothing else. */
  readonly isNumeric: boolean;
}

/** A table as it is shown: its texts are safe and cut. */
export interface TableModel {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly string[])[];
  /** How many are beyond the limits. */
  readonly hiddenRows: number;
  readonly hiddenColumns: number;
}

/** What is shown of a table at most. */
export const tableLimits: { readonly maxRows: number; readonly maxColumns: number } = {
  maxRows: 200,
  maxColumns: 20,
};

/** How a column says what it holds: a name, or `{ key, label }`. */
const columnOf = (column: unknown, index: number): { key: string; label: string } => {
  if (typeof column === "string") return { key: column, label: cellText(column, 100) };
  const key = cardField(column, "key");
  const label = cardLine(column, "label", 100);
  const name = typeof key === "string" ? key : (label ?? String(index + 1));
  return { key: name, label: label ?? cellText(name, 100) };
};

/** Columns by the fields of the first rows, where none are named. */
const columnsOf = (data: unknown, rows: readonly unknown[]): readonly unknown[] => {
  const named = cardField(data, "columns");
  if (Array.isArray(named)) return named;
  const [first] = rows;
  if (Array.isArray(first)) return first.map((_, index) => String(index + 1));
  return isObject(first) ? Object.keys(first) : [];
};

/** Reads `{ columns?, rows }`, or a list of rows; a row is a list or an object. Undefined for anything else. */
export const readTable = (data: unknown): TableModel | undefined => {
  const rows = Array.isArray(data) ? data : cardField(data, "rows");
  if (!Array.isArray(rows)) return undefined;
  const { kept: columns, hidden: hiddenColumns } = firstOf(columnsOf(data, rows), tableLimits.maxColumns);
  if (columns.length === 0) return undefined;
  const named = columns.map(columnOf);
  const { kept, hidden: hiddenRows } = firstOf(rows, tableLimits.maxRows);
  const values = kept.map((row) =>
    named.map(({ key }, index): unknown => (Array.isArray(row) ? row[index] : cardField(row, key))),
  );
  const isNumeric = (index: number) => {
    const filled = values.map((row) => row[index]).filter((value) => value !== undefined && value !== null);
    return filled.length > 0 && filled.every((value) => typeof value === "number");
  };
  return {
    columns: named.map(({ label }, index) => ({ label, isNumeric: isNumeric(index) })),
    rows: values.map((row) => row.map((value) => cellText(value))),
    hiddenRows,
    hiddenColumns,
  };
};
