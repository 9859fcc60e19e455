import { type ActionDirective, misfitTextOf, type RiskTier } from "@harnesskit/protocol/openharness";
import type { PendingApproval } from "@harnesskit/shell-client";
import {
  type ChartModel,
  cardField,
  type FormModel,
  readChart,
  readForm,
  readTable,
} from "@harnesskit/shell-client/cards";
import { displayText } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import { ConversationView } from "../terminal/conversation-view.ts";
import { gap, moreText, pad, tableLines } from "../terminal/table-lines.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine, toolName } from "../terminal/text.ts";
import { type CallEnd, callEnding, conversationEnd, type RefusedCalls } from "../timeline/outcomes.ts";
import { questionLines } from "./approvals.ts";
import type { StreamPreview } from "./stream-preview.ts";

const defaultChartWidth = 80;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

const bar = (share: number, width: number): string => {
  const parts = Math.round(Math.max(0, Math.min(1, share)) * width * 8);
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
};

const figure = (value: number): string => {
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e15 || size < 1e-4) ? value.toExponential(3) : value.toLocaleString("en-US");
};

/** A chart as one bar for each value, its length by the value's size; a negative one is dim. */
const chartLines = (chart: ChartModel, style: Style, columns: number | undefined): string[] => {
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
    const seriesName = isSingle ? "" : pad(oneLine(name, nameWidth), nameWidth, false) + gap;
    return `${head}${seriesName}${painted}${space}${gap}${pad(figures[index] ?? "", figureWidth, true)}`;
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

/** What a form asks for, if no user can be asked. */
const formLines = ({ fields }: FormModel, style: Style): string[] => [
  ...fields.map(({ label, type, isRequired, options }) => {
    const which = type === "choice" ? options.map((option) => option.label).join(", ") : type;
    return `  ${label}${isRequired ? " (needed)" : ""}: ${style.dim(which)}`;
  }),
  style.dim("  Fill it in at a terminal, or say it in words."),
];

const stringField = (value: unknown, name: string): string | undefined => {
  const text = cardField(value, name);
  return typeof text === "string" ? text : undefined;
};

const wordsOf = (data: unknown): string | undefined =>
  typeof data === "string" ? data : (stringField(data, "text") ?? stringField(data, "message"));

export interface ShownCard {
  readonly isShown: boolean;
  readonly form?: FormModel | undefined;
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

/** Shows what an engine sends as safe text. */
export class ShellView extends ConversationView {
  /** What the engine is about to answer; undefined where it cannot be taken back. */
  preview: StreamPreview | undefined;

  override breakLine(): void {
    this.preview?.clear();
  }

  override prose(text: string, isMarkdown = false): void {
    this.breakLine();
    super.prose(text, isMarkdown);
  }

  card(directive: ActionDirective): ShownCard {
    const { payload = {} } = directive;
    const component = stringField(payload, "component") ?? "";
    const form = component === "form" ? readForm(payload.data) : undefined;
    const lines = form ? [] : this.#cardLines(component, payload.data);
    if (lines === undefined) {
      const text = misfitTextOf(directive);
      this.prose(text ?? `(a card that cannot be shown here: ${oneLine(component, 100)})`);
      return { isShown: text !== undefined };
    }
    const title = stringField(payload, "title");
    const call = component === "text" ? callOf(payload.data) : undefined;
    if (call !== undefined) {
      const { style } = this.terminal;
      this.line(`${style.cyan("●")} ${style.bold(toolName(call.tool))}`);
      this.line(`  ${callEnding(call.end, style)}`);
      return { isShown: true, call: call.end };
    }
    // A result that its title sums up.
    if (component === "text" && title !== undefined && cardField(payload.data, "collapsed") === true) {
      const { style, columns = 200 } = this.terminal;
      this.line(`${style.cyan("●")} ${oneLine(title, Math.max(20, columns - 4))} ${style.green("✓")}`);
      return { isShown: true };
    }
    if (title !== undefined && title !== "") this.line(this.terminal.style.bold(oneLine(title, 200)));
    this.lines(lines);
    return { isShown: true, form };
  }

  #cardLines(component: string, data: unknown): string[] | undefined {
    const { style, columns } = this.terminal;
    const table = component === "table" ? readTable(data) : undefined;
    if (table) return tableLines(table, style, columns);
    const chart = component === "chart" ? readChart(data) : undefined;
    if (chart) return chartLines(chart, style, columns);
    const text = component === "text" ? wordsOf(data) : undefined;
    return text === undefined ? undefined : displayText(text, { multiline: true }).split("\n");
  }

  /** Says of a turn that ended which calls did not run. */
  ended(refused: RefusedCalls): void {
    const line = refused.line(this.terminal.style);
    if (line !== undefined) this.line(line);
  }

  form(form: FormModel): void {
    this.lines(formLines(form, this.terminal.style));
  }

  questionLines(directive: ActionDirective, risk: RiskTier): string[] {
    return questionLines(directive, risk, this.terminal.style);
  }

  /** A risk that is not stated is handled as high. */
  pendingLines({ directive }: PendingApproval): string[] {
    return this.questionLines(directive, directive.risk_tier ?? "dangerous");
  }

  answered(text: string): void {
    this.line(`  ${this.terminal.style.yellow(text)}`);
  }
}
