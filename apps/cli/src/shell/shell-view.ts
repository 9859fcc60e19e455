import { type ActionDirective, misfitTextOf, type RiskTier } from "@harnesskit/protocol/openharness";
import type { PendingApproval } from "@harnesskit/shell-client";
import { type FormModel, readChart, readForm, readTable } from "@harnesskit/shell-client/cards";
import { displayText } from "@harnesskit/wire";
import { oneLine } from "../terminal/one-line.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { Prose } from "../timeline/prose.ts";
import { chartLines, formLines, tableLines } from "./card-text.ts";
import { questionLines } from "./shell-question.ts";

const textOf = (value: unknown, name: string): string | undefined => {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  const text = isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof text === "string" ? text : undefined;
};

/** Of a card of text: the text itself, or `{ text }` or `{ message }`. */
const wordsOf = (data: unknown): string | undefined =>
  typeof data === "string" ? data : (textOf(data, "text") ?? textOf(data, "message"));

export interface ShownCard {
  readonly isShown: boolean;
  readonly form?: FormModel;
}

/** Shows what an engine sends as safe text. */
export class ShellView {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** What was written where there is no terminal that shows it. */
  said(line: string): void {
    this.#line(`› ${this.#terminal.style.bold(displayText(line, { maxLength: 2_000 }))}`);
  }

  note(text: string): void {
    this.#line(this.#terminal.style.dim(text));
  }

  prose(text: string): void {
    const prose = new Prose(this.#terminal, (word) => word);
    prose.push(text);
    if (prose.end()) this.#terminal.write("\n");
  }

  /** A `render_ui`. Gives the form, where it is one, and whether the card or its text could be shown. */
  card(directive: ActionDirective): ShownCard {
    const { payload = {} } = directive;
    const component = textOf(payload, "component") ?? "";
    const form = component === "form" ? readForm(payload.data) : undefined;
    const lines = form ? [] : this.#cardLines(component, payload.data);
    if (lines === undefined) {
      const text = misfitTextOf(directive);
      this.prose(text ?? `(a card that cannot be shown here: ${oneLine(component, 100)})`);
      return { isShown: text !== undefined };
    }
    const title = textOf(payload, "title");
    if (title !== undefined && title !== "") this.#line(this.#terminal.style.bold(oneLine(title, 200)));
    for (const line of lines) this.#line(line);
    return { isShown: true, ...(form && { form }) };
  }

  #cardLines(component: string, data: unknown): string[] | undefined {
    const { style, columns } = this.#terminal;
    const table = component === "table" ? readTable(data) : undefined;
    if (table) return tableLines(table, style, columns);
    const chart = component === "chart" ? readChart(data) : undefined;
    if (chart) return chartLines(chart, style, columns);
    const text = component === "text" ? wordsOf(data) : undefined;
    return text === undefined ? undefined : displayText(text, { multiline: true }).split("\n");
  }

  /** What a form asks for, where nobody can be asked. */
  form(form: FormModel): void {
    for (const line of formLines(form, this.#terminal.style)) this.#line(line);
  }

  question(directive: ActionDirective, risk: RiskTier): void {
    const { style, columns } = this.#terminal;
    for (const line of questionLines(directive, risk, style)) this.#line(wrapText(line, columns));
  }

  /** A question that was left waiting. */
  pending({ directive }: PendingApproval): void {
    this.question(directive, directive.risk_tier ?? "caution");
  }

  /** How a question was answered without the user. */
  answered(text: string): void {
    this.#line(`  ${this.#terminal.style.yellow(text)}`);
  }

  #line(line: string): void {
    this.#terminal.write(`${line}\n`);
  }
}
