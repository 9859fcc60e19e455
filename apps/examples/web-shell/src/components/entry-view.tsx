import { Markdown } from "@harnesskit/hub-web/markdown";
import { cardField, readChart, readForm, readTable } from "@harnesskit/shell-client/cards";
import { useMemo } from "preact/hooks";
import type { CardEntry, Entry, Sending } from "../entries.ts";
import { safeText } from "../values.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { FormCard } from "./form-card.tsx";
import { figuresOf, TableCard } from "./table-card.tsx";

export interface EntryActions {
  readonly onAgain: (id: string) => void;
  readonly onSubmit: (id: string, sending: Sending) => void;
  readonly onAnswer: (id: string, decision: "approved" | "refused", reason: string | undefined) => void;
  /** Whether a question may take the focus: not while the user writes. */
  readonly takesFocus: () => boolean;
}

interface EntryViewProps<E extends Entry = Entry> extends EntryActions {
  readonly entry: E;
  readonly busy: { readonly answering: string | undefined } | undefined;
}

const shownText = (data: unknown): string | undefined => {
  const found = [data, cardField(data, "text"), cardField(data, "message")];
  return found.find((text) => typeof text === "string");
};

/** What a card shows; undefined where the page cannot show it. */
const useContent = ({ entry, busy, onSubmit }: EntryViewProps<CardEntry>) => {
  const { component, data, title, id, isSettled } = entry;
  const read = useMemo(
    () => ({
      table: component === "table" ? readTable(data) : undefined,
      chart: component === "chart" ? readChart(data) : undefined,
      form: component === "form" ? readForm(data) : undefined,
      text: component === "text" ? shownText(data) : undefined,
    }),
    [component, data],
  );
  const label = title ?? component;
  if (read.table) return <TableCard table={read.table} label={label} />;
  if (read.chart) return <TableCard table={figuresOf(read.chart)} label={label} />;
  if (read.text !== undefined) {
    return (
      <p class="text" dir="auto">
        {safeText(read.text)}
      </p>
    );
  }
  if (!read.form) return undefined;
  const submit = (sending: Sending) => onSubmit(id, sending);
  return <FormCard form={read.form} isSettled={isSettled} isBusy={busy !== undefined} onSubmit={submit} />;
};

function Card(props: EntryViewProps<CardEntry>) {
  const { component, title, fallback } = props.entry;
  const content = useContent(props);
  if (content === undefined) {
    const text = fallback ?? `This page cannot show this (${component}).`;
    return (
      <p class="bubble engine" dir="auto">
        {safeText(text)}
      </p>
    );
  }
  // A result that its title sums up: the rest is shown on demand.
  if (title !== undefined && cardField(props.entry.data, "collapsed") === true) {
    return (
      <details class="result">
        <summary>{title}</summary>
        {content}
      </details>
    );
  }
  return (
    <section class="card" aria-label={title ?? component}>
      {title !== undefined && <h2>{title}</h2>}
      {content}
    </section>
  );
}

interface BubbleProps {
  readonly who: string;
  readonly className: string;
  readonly text: string;
  /** @default false: it is shown as it is */
  readonly isMarkdown?: boolean;
}

const maxMarkdownLength = 100_000;

function Bubble({ who, className, text, isMarkdown = false }: BubbleProps) {
  const shown = useMemo(() => safeText(text), [text]);
  return (
    <div class={`bubble ${className}`} dir="auto">
      <span class="hidden">{who}: </span>
      {isMarkdown ? <Markdown text={text.slice(0, maxMarkdownLength)} /> : shown}
    </div>
  );
}

export function EntryView(props: EntryViewProps) {
  const { entry, busy, takesFocus, onAgain, onAnswer } = props;
  switch (entry.kind) {
    case "user":
      return <Bubble who="You" className="user" text={entry.text} />;
    case "message":
      return (
        <Bubble who="Engine" className="engine" text={entry.text} isMarkdown={entry.format === "markdown"} />
      );
    case "card":
      return <Card {...props} entry={entry} />;
    case "approval":
      return (
        <ApprovalCard
          entry={entry}
          isBusy={busy !== undefined && entry.pending !== undefined}
          isSending={busy?.answering === entry.id}
          takesFocus={takesFocus}
          onAnswer={(decision, reason) => onAnswer(entry.id, decision, reason)}
        />
      );
    case "error":
      return (
        <div class="error inline">
          <p dir="auto">
            {entry.text} <span class="dim small">({entry.code})</span>
          </p>
          {entry.again !== undefined && !entry.isSettled && (
            <button
              type="button"
              class="button"
              disabled={busy !== undefined}
              onClick={() => onAgain(entry.id)}
            >
              Try again
            </button>
          )}
        </div>
      );
    case "note":
      return <p class="note dim small">{safeText(entry.text, 2_000)}</p>;
  }
}
