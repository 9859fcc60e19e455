import type { TableModel } from "@harnesskit/shell-client/cards";
import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";
import type { Style } from "./terminal.ts";
import { oneLine } from "./text.ts";

const gap = "  ";
const minColumnWidth = 4;
const maxCellWidth = 10_000;

const pad = (text: string, width: number, isRight: boolean): string => {
  const space = " ".repeat(Math.max(0, width - stringWidth(text)));
  return isRight ? space + text : text + space;
};

const fit = (widths: readonly number[], room: number): number[] => {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const widest = Math.max(...fitted);
    if (widest <= minColumnWidth) break;
    const second = Math.max(minColumnWidth, ...fitted.filter((width) => width < widest));
    const widestOnes = fitted.flatMap((width, index) => (width === widest ? [index] : []));
    const step = Math.max(1, Math.min(widest - second, Math.ceil(excess / widestOnes.length)));
    for (const index of widestOnes) {
      if (excess <= 0) break;
      const taken = Math.min(step, excess);
      fitted[index] = widest - taken;
      excess -= taken;
    }
  }
  return fitted;
};

export const moreText = (count: number, what: string): string[] =>
  count === 0 ? [] : [`… ${count.toLocaleString("en-US")} more ${what}${count === 1 ? "" : "s"}`];

/** A table in aligned columns for a terminal of so many columns: what is too long for its cell is broken into lines. */
export const tableLines = (
  table: Pick<TableModel, "columns" | "rows"> & Partial<TableModel>,
  style: Style,
  columns: number | undefined,
): string[] => {
  const { columns: heads, rows, hiddenRows = 0, hiddenColumns = 0 } = table;
  const wanted = heads.map(({ label }, index) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[index] ?? "")), stringWidth(label)),
  );
  const room = (columns ?? Number.POSITIVE_INFINITY) - gap.length * (heads.length - 1);
  const widths = Number.isFinite(room) ? fit(wanted, room) : wanted;
  const lines = (cells: readonly string[]): string[] => {
    const broken = widths.map((width, index) =>
      wrapAnsi(oneLine(cells[index] ?? "", maxCellWidth), Math.max(1, width), { hard: true }).split("\n"),
    );
    const height = Math.max(1, ...broken.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) =>
      widths
        .map((width, index) => pad(broken[index]?.[at] ?? "", width, heads[index]?.isNumeric === true))
        .join(gap)
        .trimEnd(),
    );
  };
  return [
    ...lines(heads.map(({ label }) => label)).map((line) => style.bold(line)),
    style.dim(widths.map((width) => "─".repeat(width)).join(gap)),
    ...rows.flatMap(lines),
    ...[...moreText(hiddenRows, "row"), ...moreText(hiddenColumns, "column")].map((text) => style.dim(text)),
  ];
};
