import { type ApprovalView, presentApproval } from "@harnesskit/approvals";
import { RiskBadge } from "@harnesskit/hub-web/risk-badge";
import { SubjectView } from "@harnesskit/hub-web/subject-view";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { cardField, cardLine } from "@harnesskit/shell-client/cards";
import { isObject } from "@harnesskit/wire/json";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { ApprovalEntry, ApprovalState } from "../entries.ts";
import { safeText } from "../values.ts";

/** How long a question is there before it can be answered: a click that was meant for something else does not count. */
const armMs = 350;
/** What is longer is not shown whole, and so cannot be approved. */
const maxShownLength = 100_000;
const maxReasonLength = 1_000;

const endings: Readonly<Record<Exclude<ApprovalState, "open">, string>> = {
  approved: "You approved this.",
  refused: "You refused this.",
  elsewhere: "This was answered elsewhere.",
  gone: "This can be answered no more.",
};

const riskLevels = { safe: "low", caution: "medium", dangerous: "high" } as const;

const jsonText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");

function Part({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <pre>{safeText(jsonText(value), maxShownLength)}</pre>
      </dd>
    </>
  );
}

/** Fields that name the question and say nothing of the action. */
const ids = ["digest", "signal_id"];
const everything = { maxLines: maxShownLength, maxLength: maxShownLength };

/** The action, as every approval is shown; undefined where the engine names no tool and input. */
const viewOf = (subject: unknown): ApprovalView | undefined => {
  const tool = cardLine(subject, "tool", 200);
  const input = cardField(subject, "input");
  const preview = cardField(subject, "preview");
  if (tool === undefined || !isObject(input)) return undefined;
  const shown = {
    tool,
    input: input as JsonObject,
    preview: typeof preview === "string" ? preview : undefined,
  };
  return presentApproval({ subject: shown }, everything);
};

/** What would happen, and whatever else the engine says of it. */
function Subject({ subject, view }: { readonly subject: unknown; readonly view: ApprovalView | undefined }) {
  if (view === undefined) {
    return (
      <dl class="subject lines">
        <Part name="About" value={subject} />
      </dl>
    );
  }
  const known = [
    ...ids,
    "tool",
    "input",
    ...(typeof cardField(subject, "preview") === "string" ? ["preview"] : []),
  ];
  const others = Object.entries(subject as object).filter(([name]) => !known.includes(name));
  return (
    <>
      <SubjectView view={view} />
      {others.length > 0 && (
        <dl class="subject lines">
          <Part name="Details" value={Object.fromEntries(others)} />
        </dl>
      )}
    </>
  );
}

export interface ApprovalCardProps {
  readonly entry: ApprovalEntry;
  readonly isBusy: boolean;
  /** The answer is on its way. */
  readonly isSending: boolean;
  /** Whether the card takes the focus when it comes. */
  readonly takesFocus: () => boolean;
  readonly onAnswer: (decision: "approved" | "refused", reason: string | undefined) => void;
}

export function ApprovalCard({ entry, isBusy, isSending, takesFocus, onAnswer }: ApprovalCardProps) {
  const { question, state } = entry;
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const [isArmed, setArmed] = useState(false);
  const [reason, setReason] = useState("");
  const isOpen = state === "open";
  const view = useMemo(() => viewOf(question.subject), [question.subject]);
  const isWhole = [question.subject, question.more, question.message].every(
    (part) => jsonText(part).length <= maxShownLength,
  );

  useEffect(() => {
    if (!isOpen) return undefined;
    // The card and no button of it: a key that was meant for something else answers nothing.
    if (takesFocus()) card.current?.focus();
    const timer = setTimeout(() => setArmed(true), armMs);
    return () => clearTimeout(timer);
  }, [isOpen, takesFocus]);

  const canAnswer = isOpen && isArmed && !isBusy;
  const answer = (decision: "approved" | "refused") => onAnswer(decision, reason.trim() || undefined);
  return (
    <section
      ref={card}
      class={`card approval risk-${question.risk} ${isOpen ? "open" : "settled"}`}
      tabIndex={-1}
      aria-labelledby={`${id}-title`}
    >
      <header class="inline">
        <h2 id={`${id}-title`}>{view?.title ?? question.title ?? "Your approval is needed"}</h2>
        <RiskBadge level={riskLevels[question.risk]} />
      </header>
      {view !== undefined &&
        question.title !== undefined &&
        question.title !== `Run ${cardLine(question.subject, "tool", 200)}?` && (
          <p class="text" dir="auto">
            {question.title}
          </p>
        )}
      <p class="text" dir="auto">
        {safeText(question.message, maxShownLength)}
      </p>
      {question.subject !== undefined && <Subject subject={question.subject} view={view} />}
      {question.more !== undefined && (
        <dl class="subject lines">
          <Part name="Besides" value={question.more} />
        </dl>
      )}
      {isOpen ? (
        <>
          {!isWhole && (
            <p class="problem small">It is too long to be shown whole, and can only be refused.</p>
          )}
          <label class="field" for={`${id}-reason`}>
            <span>Reason (optional)</span>
            <input
              id={`${id}-reason`}
              type="text"
              class="input"
              autocomplete="off"
              maxLength={maxReasonLength}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
          <div class="inline">
            <button
              type="button"
              class="button primary"
              disabled={!canAnswer || !isWhole}
              onClick={() => answer("approved")}
            >
              Approve
            </button>
            <button
              type="button"
              class="button refuse"
              disabled={!canAnswer}
              onClick={() => answer("refused")}
            >
              Refuse
            </button>
            {isSending && <span class="dim small">Sending your answer …</span>}
          </div>
        </>
      ) : (
        <p class="dim small">
          {endings[state] ?? endings.gone}
          {entry.reason !== undefined && (
            <span dir="auto"> Reason: {safeText(entry.reason, maxReasonLength)}</span>
          )}
        </p>
      )}
    </section>
  );
}
