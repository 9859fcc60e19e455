import { type ActionDirective, misfitTextOf } from "@harnesskit/protocol/openharness";
import {
  type ChartModel,
  cardField,
  type FormModel,
  readChart,
  readForm,
  readTable,
} from "@harnesskit/shell-client/cards";
import { displayText } from "@harnesskit/wire";
import { moreText, tableLines } from "../terminal/table-lines.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine, toolName } from "../terminal/text.ts";
import { type CallEnd, callEnding, conversationEnd } from "../timeline/outcomes.ts";
import type { View } from "../timeline/view.ts";

const figure = (value: number | undefined): string => {
  if (value === undefined) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e15 || size < 1e-4) ? value.toExponential(3) : value.toLocaleString("en-US");
};

/** A chart as the table of its values. */
const chartLines = (chart: ChartModel, style: Style, columns: number | undefined): string[] => {
  const { labels, series, unit, hiddenPoints, hiddenSeries } = chart;
  const heads = series.map(({ name }) => ({ label: name, isNumeric: true }));
  const table = {
    columns: [{ label: unit === undefined ? "" : `in ${unit}`, isNumeric: false }, ...heads],
    rows: labels.map((label, point) => [label, ...series.map(({ values }) => figure(values[point]))]),
  };
  const more = [
    ...moreText(hiddenPoints, "point"),
    ...(hiddenSeries === 0 ? [] : [`… ${hiddenSeries} more series`]),
  ];
  return [...tableLines(table, style, columns), ...more.map((text) => style.dim(text))];
};

/** What a form asks for. */
const formLines = ({ fields }: FormModel, style: Style): string[] => [
  ...fields.map(({ label, type, isRequired, options }) => {
    const which = type === "choice" ? options.map((option) => option.label).join(", ") : type;
    return `  ${label}${isRequired ? " (needed)" : ""}: ${style.dim(which)}`;
  }),
  style.dim("  Say in words what belongs in it."),
];

const stringField = (value: unknown, name: string): string | undefined => {
  const text = cardField(value, name);
  return typeof text === "string" ? text : undefined;
};

const wordsOf = (data: unknown): string | undefined =>
  typeof data === "string" ? data : (stringField(data, "text") ?? stringField(data, "message"));

export interface ShownCard {
  readonly isShown: boolean;
  /** How a call ended that has no result. */
  readonly call?: CallEnd | undefined;
}

const statuses: ReadonlySet<unknown> = new Set(["failed", "rejected", "not_run"]);

/** The call without a result that a card of a conversation's engine tells of: its tool, and how it ended. */
const callOf = (data: unknown): { readonly tool: string; readonly end: CallEnd } | undefined => {
  const call = cardField(data, "call");
  const [tool, status, code] = ["tool", "status", "code"].map((name) => stringField(call, name));
  if (tool === undefined || code === undefined || !statuses.has(status)) return undefined;
  const failure = { status: status as "failed" | "rejected" | "not_run", code };
  return { tool, end: conversationEnd({ ...failure, message: stringField(data, "text") ?? "" }) };
};

const dataLines = (component: string, data: unknown, style: Style, columns: number | undefined) => {
  const table = component === "table" ? readTable(data) : undefined;
  if (table) return tableLines(table, style, columns);
  const chart = component === "chart" ? readChart(data) : undefined;
  if (chart) return chartLines(chart, style, columns);
  const text = component === "text" ? wordsOf(data) : undefined;
  return text === undefined ? undefined : displayText(text, { multiline: true }).split("\n");
};

/** Shows a card of an engine. */
export const showCard = (view: View, directive: ActionDirective): ShownCard => {
  const { style, columns } = view;
  const { payload = {} } = directive;
  const { data } = payload;
  const component = stringField(payload, "component") ?? "";
  const form = component === "form" ? readForm(data) : undefined;
  const lines = form ? formLines(form, style) : dataLines(component, data, style, columns);
  if (lines === undefined) {
    const text = misfitTextOf(directive);
    view.prose(text ?? `(a card that cannot be shown here: ${oneLine(component, 100)})`);
    return { isShown: text !== undefined };
  }
  const title = stringField(payload, "title");
  const call = component === "text" ? callOf(data) : undefined;
  if (call !== undefined) {
    view.lines([`${style.cyan("●")} ${style.bold(toolName(call.tool))}`, `  ${callEnding(call.end, style)}`]);
    return { isShown: true, call: call.end };
  }
  // A result that its title sums up.
  if (component === "text" && title !== undefined && cardField(data, "collapsed") === true) {
    const shown = oneLine(title, Math.max(20, (columns ?? 200) - 4));
    view.lines([`${style.cyan("●")} ${shown} ${style.green("✓")}`]);
    return { isShown: true };
  }
  const heading = title === undefined || title === "" ? [] : [style.bold(title)];
  view.lines([...heading, ...lines]);
  return { isShown: true };
};
