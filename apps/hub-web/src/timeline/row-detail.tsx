import { allowingRule } from "@harnesskit/approvals";
import { rowName, rowSubject } from "@harnesskit/hub/client";
import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { displayName } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { block, formatAge, formatClock, formatDuration, formatMoment, line, plainLines } from "../format.ts";
import { useKey } from "../keys.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { CloseButton } from "../parts/controls.tsx";
import { Icon } from "../parts/icons.tsx";
import { Note } from "../parts/note.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { ScrollArea } from "../parts/scroll-area.tsx";
import { useCopy } from "../parts/use-copy.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { Content, Input, isSaid, ReadableContent } from "./row-content.tsx";
import { approvalText, approvalTones, decisionWord, StateMark, states } from "./row-state.tsx";

interface StepProps {
  readonly title: string;
  readonly tone?: string | undefined;
  readonly children: ComponentChildren;
}

/** One of the four steps of an action. */
function Step({ title, tone = "", children }: StepProps) {
  return (
    <li class={`step ${tone}`}>
      <h2>{title}</h2>
      <div>{children}</div>
    </li>
  );
}

/** What its user can do about an action that the policy has blocked. */
function HowToAllow({ row, input, policyFile }: Pick<TimelineDetail, "row" | "input"> & PolicyPlace) {
  const { rule, source } = row.decision ?? {};
  const name = rule === undefined ? undefined : <code>{line(rule, 200)}</code>;
  const file = policyFile === undefined ? "the policy" : <code>{line(policyFile, 300)}</code>;
  if (source === "limit")
    return (
      <p>
        The limit {name} was reached. It passes again later, or with a higher limit in {file}.
      </p>
    );
  if (source === "guard")
    return <p>No rule allows an agent to change the policy itself. Do it by hand if you want it.</p>;
  if (source === "failure")
    return (
      <p>
        The rule {name} failed, so nothing passes it. Correct it in {file}.
      </p>
    );
  const given = isObject(input?.value) && !input.isCut ? input.value : {};
  const allowing = row.tool === undefined ? undefined : allowingRule(row.tool, given);
  const place = name === undefined ? "among its rules" : <>above the rule {name}</>;
  if (allowing === undefined)
    return (
      <p>
        To allow it, add a rule to {file}, {place}.
      </p>
    );
  return (
    <>
      <p>
        To allow exactly this, put the line below into {file}, {place}. Leave the shipped policy as it is:
        copy it, and start the hub with <code>--policy COPY</code>.
      </p>
      <CodeBlock part={{ kind: "prompt", label: "the line to add", lines: plainLines(allowing) }} />
    </>
  );
}

interface PolicyPlace {
  /** The file of the policy in force, once it is known. */
  readonly policyFile: string | undefined;
}

function Decided({
  detail: { row, explanation, input },
  policyFile,
}: { readonly detail: TimelineDetail } & PolicyPlace) {
  const { decision } = row;
  if (decision === undefined) return <p class="dim">Nothing was decided: the agent only reported this.</p>;
  if (decision.source === "none")
    return <p>Not judged: the agent did this without asking. Its report is all that is known of it.</p>;
  const { rule, source, reason, mode } = decision;
  const isBlocked = ["block", "reject"].includes(decision.decision) && row.approval === undefined;
  return (
    <>
      <p>
        {rule === undefined ? `The ${source}` : <code>{line(rule, 200)}</code>}{" "}
        <strong>{source === "approval" ? "asked" : decisionWord(decision.decision)}</strong>
        {mode === "shadow" && ": the policy is only tried out, so this was recorded and not enforced"}
      </p>
      {reason !== undefined && (
        <p>
          <SafeText text={line(reason, 4000)} />
        </p>
      )}
      {explanation !== undefined && explanation.why !== reason && (
        <p class="dim small">
          <SafeText text={line(explanation.why, 4000)} />
        </p>
      )}
      {explanation?.shadowed.map(({ rule: shadow, decision: would }) => (
        <p key={shadow} class="dim small">
          The rule <code>{line(shadow, 200)}</code> would have said <q>{decisionWord(would)}</q>, but the
          policy only tries it out. Remove its line <code>mode: shadow</code> to put it in force.
        </p>
      ))}
      {isBlocked && mode !== "shadow" && <HowToAllow row={row} input={input} policyFile={policyFile} />}
    </>
  );
}

interface RowDetailProps extends PolicyPlace {
  readonly detail: TimelineDetail;
  readonly approvalHref: (id: string) => string;
  /** Of its turn, or else its session, as a conversation. */
  readonly runHref: string;
  readonly onClose: () => void;
  readonly onSession: () => void;
}

/** A row with all that is known of it. */
export function RowDetail(props: RowDetailProps) {
  const { detail, policyFile, approvalHref, runHref, onClose, onSession } = props;
  const { row, modifiedInput, output, error, metadata } = detail;
  const { id, agent, session, turn, approval, durationMs, outcome } = row;
  const nowMs = useNow();
  const titleId = useId();
  const panel = useRef<HTMLElement>(null);
  const [isCopied, copy] = useCopy();
  useEffect(() => panel.current?.focus({ preventScroll: true }), [id]);
  useKey("Escape", onClose);
  return (
    <section ref={panel} class="decision row-detail" tabIndex={-1} aria-labelledby={titleId}>
      <header class="decision-head">
        <CloseButton onClose={onClose} />
        <div class="decision-title">
          <StateMark state={row.state} />
          <h1 id={titleId}>
            <SafeText text={`${line(rowName(row), 100)} ${line(rowSubject(row), 300)}`.trim()} />
          </h1>
        </div>
        <a class="button quiet compact" href={routeHash({ page: "policy", id: String(id), filter: {} })}>
          Test this event
        </a>
        <button type="button" class="button quiet compact" onClick={() => copy(location.href)}>
          <Icon name={isCopied ? "check" : "link"} size={16} />
          {isCopied ? "Copied" : "Copy link"}
        </button>
      </header>
      <ScrollArea className="decision-body" label="The action">
        <ol class="steps">
          <Step title="Agent" tone="accent">
            <p>
              <AgentName name={agent} /> <span class="dim">asked at {formatClock(row.atMs)}</span>{" "}
              <span class="dim" title={formatMoment(row.atMs)}>
                ({formatAge(row.atMs, nowMs)})
              </span>
            </p>
            <p class="dim small">
              {row.tool === undefined ? "" : `tool ${displayName(row.tool, { maxLength: 100 })} · `}
              session {line(session, 100)}
              {turn !== undefined && ` · turn ${line(turn, 100)}`}{" "}
              <button type="button" class="link-button" onClick={onSession}>
                Show this session
              </button>{" "}
              <a href={runHref}>Read it as a conversation</a>
            </p>
          </Step>
          <Step title="Rule" tone={row.decision === undefined ? "" : "accent"}>
            <Decided detail={detail} policyFile={policyFile} />
          </Step>
          <Step title="Approval" tone={approval && (approvalTones[approval.status] || "bad")}>
            {approval === undefined ? (
              <p class="dim">No human was asked.</p>
            ) : (
              <>
                <p class="inline">
                  <span>{approvalText(approval)}</span> <RiskBadge level={approval.risk} />{" "}
                  <a href={approvalHref(approval.id)}>
                    {approval.status === "pending" ? "Answer it" : "Open it"}
                  </a>
                </p>
                {detail.approval?.answer?.note !== undefined && (
                  <p>
                    Reason: <SafeText text={line(detail.approval.answer.note, 4000)} />
                  </p>
                )}
              </>
            )}
          </Step>
          <Step title="Effect" tone={states[row.state].tone}>
            <p>
              {states[row.state].effect}
              {durationMs !== undefined && <span class="dim"> It took {formatDuration(durationMs)}.</span>}
            </p>
            {outcome !== undefined && error === undefined && (
              <p class="dim">
                <SafeText text={line(outcome, 1000)} />
              </p>
            )}
          </Step>
        </ol>
        {error !== undefined && (
          <Note tone="bad">
            <span class="pre">
              <SafeText text={block(error.message)} />
            </span>
            {error.code !== undefined && <span class="dim"> ({line(error.code, 100)})</span>}
          </Note>
        )}
        {isSaid(detail) && detail.input !== undefined && (
          <ReadableContent label={rowName(row)} content={detail.input} />
        )}
        {!isSaid(detail) && <Input detail={detail} />}
        {modifiedInput !== undefined && (
          <Content label="input, as the policy changed it" content={modifiedInput} />
        )}
        {output !== undefined && <Content label="output" content={output} />}
        {(metadata !== undefined || isSaid(detail)) && (
          <details class="more">
            <summary>What else the agent said</summary>
            {isSaid(detail) && detail.input !== undefined && (
              <Content label="the whole event" content={detail.input} />
            )}
            {metadata !== undefined && <Content label="metadata" content={metadata} />}
          </details>
        )}
        <p class="dim small">
          Row {id} · {line(row.type, 100)} · {states[row.state].text}
          {row.callId !== undefined && ` · call ${line(row.callId, 200)}`}
        </p>
      </ScrollArea>
    </section>
  );
}
