import { type ApprovalRecord, isGrave, presentApproval } from "@harnesskit/approvals";
import type { ComponentProps } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { rightsProblem } from "../devices/rights.ts";
import { formatMoment, formatSpan } from "../format.ts";
import { useKey } from "../keys.ts";
import { Age } from "../parts/age.tsx";
import { AgentName } from "../parts/agent-name.tsx";
import { ApproveButton } from "../parts/approve-button.tsx";
import { Button } from "../parts/controls.tsx";
import { Detail } from "../parts/detail.tsx";
import { Note } from "../parts/note.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { Line, SafeText, TextList } from "../parts/safe-text.tsx";
import { SubjectView } from "../parts/subject-view.tsx";
import { useSeenToEnd } from "../parts/use-seen-to-end.ts";
import { RuleFromAnswer } from "../policy/offered-rule.tsx";
import type { Hello, LinkState } from "../state/hub-link.ts";
import { type Answer, type AnswerState, isLeft } from "../state/inbox.ts";
import { useNow } from "../state/now.ts";
import { AlwaysForm } from "./always-form.tsx";
import { approvalEnding } from "./ending.ts";
import { RefuseForm } from "./refuse-form.tsx";
import { useArmed } from "./use-armed.ts";

interface DecisionPanelProps {
  readonly record: ApprovalRecord;
  readonly answerState: AnswerState | undefined;
  /** What the hub said of itself; without it no grant is given. */
  readonly hello: Hello | undefined;
  readonly link: LinkState;
  readonly onAnswer: (answer: Answer) => void;
  /** @default there is nothing to go back to */
  readonly onClose?: () => void;
}

/** More than a question can have: it is at most 1 MiB. */
const everything = { maxLines: 2_000_000, maxLength: 2_000_000 };

function Fact({ name, ...value }: ComponentProps<"dd"> & { readonly name: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd {...value} />
    </div>
  );
}

function Facts({ record }: Pick<DecisionPanelProps, "record">) {
  const { origin, createdAtMs, expiresAtMs, status } = record;
  const leftMs = expiresAtMs - useNow();
  const facts = {
    Directory: origin.directory,
    Subagent: origin.subagent,
    Session: origin.session,
    Call: origin.callId,
    Work: origin.correlationId,
  };
  return (
    <dl class="facts">
      <Fact name="Agent">
        <AgentName name={origin.agent} />
      </Fact>
      <Fact name="Asked">
        <Age atMs={createdAtMs} />
      </Fact>
      {status === "pending" && (
        <Fact name="Expires" title={formatMoment(expiresAtMs)} class={leftMs < 60_000 ? "soon" : ""}>
          in {formatSpan(leftMs)}
        </Fact>
      )}
      {Object.entries(facts).map(
        ([name, id]) =>
          id !== undefined && (
            <Fact key={name} name={name}>
              <Line text={id} max={200} />
            </Fact>
          ),
      )}
    </dl>
  );
}

/** Whatever is known of an answer that was given here. */
function AnswerNote({ state, link }: { readonly state: AnswerState | undefined; readonly link: LinkState }) {
  if (state === undefined || state.state === "counted") return null;
  if (state.state === "sending") {
    return (
      <Note>
        {link === "ready" ? "Sending your answer …" : "The hub is away. Your answer is sent when it is back."}
      </Note>
    );
  }
  const title = state.state === "late" ? "Your answer did not count." : "Your answer was not sent.";
  return (
    <Note tone="warn">
      {title} {state.problem}
    </Note>
  );
}

/** One approval: what exactly will be done, why it is asked, and the answers. */
export function DecisionPanel(props: DecisionPanelProps) {
  const { record, answerState, hello, link, onAnswer, onClose } = props;
  const nowMs = useNow();
  const { id, digest, status } = record;
  const approve = useRef<HTMLButtonElement>(null);
  const body = useRef<HTMLElement>(null);
  const [mode, setMode] = useState<"none" | "refuse" | "always">("none");
  const [isAll, setAll] = useState(false);
  const view = useMemo(() => presentApproval(record, isAll ? everything : {}), [digest, isAll]);
  const isRisky = isGrave(view.risk.level);
  const shownKey = `${id} ${digest} ${isAll}`;
  const { end, isSeen } = useSeenToEnd(shownKey);
  const isArmed = useArmed(shownKey);
  const isPending = status === "pending" && record.expiresAtMs > nowMs;
  const isBusy = answerState?.state === "sending";
  const isAskerGone = isLeft(record);
  const beyond = rightsProblem(record, hello?.device);
  const canAnswer = isPending && isArmed && !isBusy && beyond === undefined;
  const canApprove = canAnswer && isSeen && !isAskerGone;
  const canAlways = canApprove && hello !== undefined && view.isWhole;
  const isCutHere = view.parts.some(({ lines }) => lines.at(-1)?.kind === "cut");
  const close = () => setMode("none");
  useEffect(close, [status]);

  const scrollOn = () => {
    const { current } = body;
    current?.scrollBy({ top: current.clientHeight * 0.85 });
  };
  useKey("a", () => {
    if (!canAnswer || mode !== "none") return;
    if (!isSeen) scrollOn();
    else if (!canApprove) return;
    else if (isRisky) approve.current?.focus();
    else onAnswer({ decision: "approve" });
  });
  useKey("r", () => canAnswer && mode === "none" && setMode("refuse"));
  useKey("w", () => canAlways && mode === "none" && setMode("always"));
  useKey("Escape", () => (mode === "none" ? onClose?.() : close()));

  const answers = (
    <div class="inline">
      {isSeen ? (
        <ApproveButton
          element={approve}
          isGrave={isRisky}
          keyShortcut="a"
          disabled={!canApprove}
          onApprove={() => onAnswer({ decision: "approve" })}
        >
          {isRisky ? "Hold to approve once" : "Approve once"} <kbd>A</kbd>
        </ApproveButton>
      ) : (
        <Button icon="down" onClick={scrollOn} aria-keyshortcuts="a">
          Read on to approve <kbd>A</kbd>
        </Button>
      )}
      <Button
        look="refuse"
        icon="cross"
        disabled={!canAnswer}
        aria-keyshortcuts="r"
        onClick={() => setMode("refuse")}
      >
        Refuse <kbd>R</kbd>
      </Button>
      {hello !== undefined && (
        <Button
          look="quiet"
          icon="always"
          disabled={!canAlways}
          aria-keyshortcuts="w"
          onClick={() => setMode("always")}
        >
          Always … <kbd>W</kbd>
        </Button>
      )}
    </div>
  );
  const forms = {
    none: answers,
    refuse: (
      <RefuseForm
        isBusy={isBusy}
        onCancel={close}
        onRefuse={(note) => onAnswer({ decision: "reject", note: note === "" ? undefined : note })}
      />
    ),
    always: (
      <AlwaysForm
        record={record}
        grantMs={hello?.grantMs ?? 0}
        isBusy={isBusy}
        isExactOnly={hello?.device?.upTo !== undefined}
        onCancel={close}
        onGive={(always) => onAnswer({ decision: "approve", always })}
      />
    ),
  };
  const ending = approvalEnding(record, hello?.by, nowMs);
  return (
    <Detail
      className={`risk-edge-${view.risk.level}`}
      title={<SafeText text={view.title} />}
      afterTitle={<RiskBadge level={view.risk.level} />}
      head={<Facts record={record} />}
      label="What will be done"
      body={body}
      footer={isPending ? beyond === undefined ? forms[mode] : <Note tone="warn">{beyond}</Note> : undefined}
      onClose={onClose}
    >
      {ending !== undefined && <Note tone={ending.tone}>{ending.text}</Note>}
      <AnswerNote state={answerState} link={link} />
      {isAskerGone && (
        <Note tone="warn">
          The agent that asked this has gone, and nobody would take an approval. If it asks again, you can
          approve it here.
        </Note>
      )}
      <div class="why">
        <p>
          <span class="dim">Asked by the rule</span> <code>{view.rule}</code>
        </p>
        <p class="reason">
          <SafeText text={view.reason} />
        </p>
        {view.risk.reasons.length > 0 && <TextList className="lines bullets dim" texts={view.risk.reasons} />}
      </div>
      <SubjectView view={view} onShowAll={isCutHere ? () => setAll(true) : undefined} />
      {!view.isWhole && (
        <Note tone="warn">Part of it is not shown. It can be approved once, not for always.</Note>
      )}
      {status === "approved" && hello !== undefined && hello.device === undefined && (
        <RuleFromAnswer record={record} />
      )}
      <div ref={end} />
      <p class="digest dim small">{view.digest}</p>
    </Detail>
  );
}
