import { type ApprovalRecord, isGrave, presentApproval } from "@harnesskit/approvals";
import { useMemo, useState } from "preact/hooks";
import { rightsProblem } from "../devices/rights.ts";
import { line, plural } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { ApproveButton } from "../parts/approve-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note } from "../parts/note.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { SubjectView } from "../parts/subject-view.tsx";
import type { HubLink } from "../state/hub-link.ts";
import { type Inbox, isLeft } from "../state/inbox.ts";
import { useStore } from "../state/store.ts";
import { shortEnding } from "./ending.ts";
import { RefuseForm } from "./refuse-form.tsx";
import { useArmed } from "./use-armed.ts";
import { useSeenToEnd } from "./use-seen-to-end.ts";

interface BulkDialogProps {
  readonly records: readonly ApprovalRecord[];
  readonly decision: "approve" | "reject";
  readonly link: HubLink;
  readonly inbox: Inbox;
  readonly onClose: () => void;
}

/** What became of a question that was not answered here; undefined while it waits. */
const elsewhereText = (record: ApprovalRecord | undefined): string | undefined => {
  if (record?.status === "pending") return undefined;
  return record?.answer === undefined ? "over" : `${shortEnding(record)} by ${line(record.answer.by, 60)}`;
};

/** Answers several approvals at once, each of them shown whole. What is not shown whole, or has ended, is left out. */
export function BulkDialog({ records, decision, link, inbox, onClose }: BulkDialogProps) {
  const hello = useStore(link.hello);
  const answers = useStore(inbox.answers);
  const known = useStore(inbox.records);
  const [shown] = useState(records);
  const [isSent, setSent] = useState(false);
  const views = useMemo(() => shown.map((record) => ({ record, view: presentApproval(record) })), [shown]);
  const isRefusal = decision === "reject";
  const included = views.filter(({ record, view }) => {
    const now = known.get(record.id);
    if (rightsProblem(record, hello?.device) !== undefined) return false;
    return now?.status === "pending" && (isRefusal || (view.isWhole && !isLeft(now)));
  });
  const key = shown.map(({ id }) => id).join(" ");
  const { end, isSeen } = useSeenToEnd(key);
  const isArmed = useArmed(key);
  const answer = (note?: string) => {
    setSent(true);
    for (const { record } of included) void inbox.answer(record, { decision, note: note || undefined });
  };
  const statusOf = (id: string): string | undefined => {
    const state = answers.get(id);
    if (state === undefined) return elsewhereText(known.get(id));
    return {
      sending: "sending …",
      counted: isRefusal ? "refused" : "approved",
      late: "did not count",
      failed: "not sent",
    }[state.state];
  };
  const isAnyGrave = included.some(({ view }) => isGrave(view.risk.level));
  const isDone = isSent && shown.every(({ id }) => answers.get(id)?.state !== "sending");
  const verb = isRefusal ? "Refuse" : "Approve";
  const footer = isSent ? (
    <button type="button" class="button primary" onClick={onClose}>
      {isDone ? "Done" : "Close"}
    </button>
  ) : isRefusal ? (
    <RefuseForm
      isBusy={!isArmed || included.length === 0}
      count={included.length}
      onRefuse={answer}
      onCancel={onClose}
    />
  ) : (
    <>
      <ApproveButton
        isGrave={isAnyGrave}
        disabled={!isArmed || !isSeen || included.length === 0}
        onApprove={() => answer()}
      >
        <Icon name="check" />
        {isAnyGrave ? "Hold to approve" : "Approve"} {included.length} once
      </ApproveButton>
      <button type="button" class="button quiet" onClick={onClose}>
        Cancel
      </button>
      {!isSeen && <span class="dim small">Read to the end to approve.</span>}
    </>
  );
  return (
    <Dialog title={`${verb} ${plural(shown.length, "action")}`} onClose={onClose} footer={footer}>
      {views.map(({ record, view }) => (
        <article key={record.id} class={`bulk-item risk-edge-${view.risk.level}`}>
          <header>
            <h3>
              <SafeText text={view.title} />
            </h3>
            <AgentName name={record.origin.agent} />
            <RiskBadge level={view.risk.level} />
            {statusOf(record.id) !== undefined && (
              <span class="chip accent" title={answers.get(record.id)?.problem}>
                {statusOf(record.id)}
              </span>
            )}
          </header>
          <SubjectView view={view} />
          {rightsProblem(record, hello?.device) !== undefined && (
            <Note tone="warn">{rightsProblem(record, hello?.device)} It is left out.</Note>
          )}
          {!isRefusal && isLeft(known.get(record.id) ?? record) && (
            <Note tone="warn">Its agent has gone, so it is left out.</Note>
          )}
          {!isRefusal && !view.isWhole && (
            <Note tone="warn">It is not shown whole here, so it is left out. Open it to decide on it.</Note>
          )}
        </article>
      ))}
      <div ref={end} />
      {hello !== undefined && <p class="dim small">Your answers are recorded as {hello.by}.</p>}
    </Dialog>
  );
}
