import { type ApprovalRecord, isGrave, presentApproval } from "@harnesskit/approvals";
import { useMemo, useState } from "preact/hooks";
import { rightsProblem } from "../devices/rights.ts";
import { line, plural } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { ApproveButton } from "../parts/approve-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { SubjectView } from "../parts/subject-view.tsx";
import { useSeenToEnd } from "../parts/use-seen-to-end.ts";
import { useApp, useHello } from "../state/app.ts";
import { isLeft } from "../state/inbox.ts";
import { useStore } from "../state/store.ts";
import { shortEnding } from "./ending.ts";
import { RefuseForm } from "./refuse-form.tsx";
import { useArmed } from "./use-armed.ts";

interface BulkDialogProps {
  readonly records: readonly ApprovalRecord[];
  readonly decision: "approve" | "reject";
  readonly onClose: () => void;
}

/** What became of a question that was not answered here; undefined while it waits. */
const elsewhereText = (record: ApprovalRecord | undefined): string | undefined => {
  if (record?.status === "pending") return undefined;
  return record?.answer === undefined ? "over" : `${shortEnding(record)} by ${line(record.answer.by, 60)}`;
};

/** Answers several approvals at once, each of them shown whole. What is not shown whole, or has ended, is left out. */
export function BulkDialog({ records, decision, onClose }: BulkDialogProps) {
  const { inbox } = useApp();
  const hello = useHello();
  const answers = useStore(inbox.answers);
  const known = useStore(inbox.records);
  const [shown] = useState(records);
  const [isSent, setSent] = useState(false);
  const views = useMemo(() => shown.map((record) => ({ record, view: presentApproval(record) })), [shown]);
  const isRefusal = decision === "reject";
  /** Why one is left out, in words. */
  const problemOf = ({ record, view }: (typeof views)[number]): string | undefined => {
    const beyond = rightsProblem(record, hello?.device);
    if (beyond !== undefined) return `${beyond} It is left out.`;
    if (isRefusal) return undefined;
    if (isLeft(known.get(record.id) ?? record)) return "Its agent has gone, so it is left out.";
    return view.isWhole
      ? undefined
      : "It is not shown whole here, so it is left out. Open it to decide on it.";
  };
  const included = views.filter(
    (each) => known.get(each.record.id)?.status === "pending" && problemOf(each) === undefined,
  );
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
  const isDone = shown.every(({ id }) => answers.get(id)?.state !== "sending");
  const isAnyGrave = included.some(({ view }) => isGrave(view.risk.level));
  const canAnswer = isArmed && included.length > 0;
  const actions = isRefusal ? (
    <RefuseForm isBusy={!canAnswer} count={included.length} onRefuse={answer} onCancel={onClose} />
  ) : (
    <>
      <ApproveButton isGrave={isAnyGrave} disabled={!canAnswer || !isSeen} onApprove={() => answer()}>
        {isAnyGrave ? "Hold to approve" : "Approve"} {included.length} once
      </ApproveButton>
      {!isSeen && <span class="dim small">Read to the end to approve.</span>}
    </>
  );
  const close = isSent ? (isDone ? "Done" : "Close") : isRefusal ? undefined : "Cancel";
  return (
    <Dialog
      title={`${isRefusal ? "Refuse" : "Approve"} ${plural(shown.length, "action")}`}
      onClose={onClose}
      close={close}
      actions={isSent ? undefined : actions}
    >
      {views.map((each) => {
        const { record, view } = each;
        const status = statusOf(record.id);
        const problem = problemOf(each);
        return (
          <article key={record.id} class={`bulk-item risk-edge-${view.risk.level}`}>
            <header class="inline">
              <h3>
                <SafeText text={view.title} />
              </h3>
              <AgentName name={record.origin.agent} />
              <RiskBadge level={view.risk.level} />
              {status !== undefined && (
                <span class="chip accent" title={answers.get(record.id)?.problem}>
                  {status}
                </span>
              )}
            </header>
            <SubjectView view={view} />
            {problem !== undefined && <Note tone="warn">{problem}</Note>}
          </article>
        );
      })}
      <div ref={end} />
      {hello !== undefined && <p class="dim small">Your answers are recorded as {hello.by}.</p>}
    </Dialog>
  );
}
