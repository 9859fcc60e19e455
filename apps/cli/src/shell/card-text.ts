import type { ChartModel, FormModel, TableModel } from "@harnesskit/shell-client/cards";
import stringWidth from "fast-string-width";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";

const gap = "  ";
const minColumnWidth = 4;
const defaultChartWidth = 80;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

const pad = (text: string, width: number, isRight: boolean): string => {
  const space = " ".repeat(Math.max(0, width - stringWidth(text)));
  return isRight ? space + text : text + space;
};

/** Takes columns from the widest until all fit; none becomes narrower than is of use. */
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

const moreText = (count: number, what: string): string[] =>
  count === 0 ? [] : [`… ${count.toLocaleString("en-US")} more ${what}${count === 1 ? "" : "s"}`];

/** A table in aligned columns, which a terminal of so many columns shows on one line a row. */
export const tableLines = (table: TableModel, style: Style, columns: number | undefined): string[] => {
  const { columns: heads, rows, hiddenRows, hiddenColumns } = table;
  const wanted = heads.map(({ label }, index) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[index] ?? "")), stringWidth(label)),
  );
  const room = (columns ?? Number.POSITIVE_INFINITY) - gap.length * (heads.length - 1);
  const widths = Number.isFinite(room) ? fit(wanted, room) : wanted;
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, index) => pad(oneLine(cells[index] ?? "", width), width, heads[index]?.isNumeric === true))
      .join(gap)
      .trimEnd();
  return [
    style.bold(line(heads.map(({ label }) => label))),
    style.dim(widths.map((width) => "─".repeat(width)).join(gap)),
    ...rows.map(line),
    ...[...moreText(hiddenRows, "row"), ...moreText(hiddenColumns, "column")].map((text) => style.dim(text)),
  ];
};

/** A bar of so many columns, to an eighth of one. */
const bar = (share: number, width: number): string => {
  const parts = Math.round(Math.max(0, Math.min(1, share)) * width * 8);
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
};

const figure = (value: number): string => {
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e15 || size < 1e-4) ? value.toExponential(3) : value.toLocaleString("en-US");
};

/** A chart as one bar for each value, its length by the value's size; a negative one is dim. */
export const chartLines = (chart: ChartModel, style: Style, columns: number | undefined): string[] => {
  const { labels, series, unit, range, hiddenPoints, hiddenSeries } = chart;
  const isSingle = series.length === 1;
  const named = labels.flatMap((label, point) =>
    series.map(({ name, values }, number) => ({
      label: number === 0 ? label : "",
      name: isSingle ? "" : name,
      value: values[point],
    })),
  );
  const widthOf = (texts: readonly string[], most: number) =>
    Math.min(
      most,
      texts.reduce((widest, text) => Math.max(widest, stringWidth(text)), 0),
    );
  const total = columns ?? defaultChartWidth;
  const labelWidth = widthOf(labels, Math.floor(total / 4));
  const nameWidth = widthOf(
    named.map(({ name }) => name),
    Math.floor(total / 5),
  );
  const figures = named.map(({ value }) => (value === undefined ? "–" : figure(value)));
  const figureWidth = widthOf(figures, total);
  const nameSpace = isSingle ? 0 : nameWidth + gap.length;
  const barWidth = Math.max(5, total - labelWidth - nameSpace - figureWidth - gap.length * 2);
  const largest = Math.max(Math.abs(range.min), Math.abs(range.max));
  const lines = named.map(({ label, name, value }, index) => {
    const drawn = value === undefined ? "" : bar(Math.abs(value) / largest, barWidth);
    const painted = value !== undefined && value < 0 ? style.dim(drawn) : style.cyan(drawn);
    const space = " ".repeat(barWidth - stringWidth(drawn));
    const head = pad(oneLine(label, labelWidth), labelWidth, false) + gap;
    const who = isSingle ? "" : pad(oneLine(name, nameWidth), nameWidth, false) + gap;
    return `${head}${who}${painted}${space}${gap}${pad(figures[index] ?? "", figureWidth, true)}`;
  });
  return [
    ...(unit === undefined ? [] : [style.dim(`in ${unit}`)]),
    ...lines,
    ...[
      ...moreText(hiddenPoints, "point"),
      ...(hiddenSeries === 0 ? [] : [`… ${hiddenSeries} more series`]),
    ].map((text) => style.dim(text)),
  ];
};

/** What a form asks for, where nobody can be asked. */
export const formLines = ({ fields }: FormModel, style: Style): string[] => [
  ...fields.map(({ label, type, isRequired, options }) => {
    const which = type === "choice" ? options.map((option) => option.label).join(", ") : type;
    return `  ${label}${isRequired ? " (needed)" : ""}: ${style.dim(which)}`;
  }),
  style.dim("  Fill it in at a terminal, or say it in words."),
];
