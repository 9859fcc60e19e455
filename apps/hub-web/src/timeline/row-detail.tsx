import { allowingRule } from "@harnesskit/approvals";
import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { decisionWord, rowName, rowSubject } from "@harnesskit/timeline";
import { displayName } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { ComponentChildren } from "preact";
import { formatClock, formatDuration, line } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { AgentName } from "../parts/agent-name.tsx";
import { Button, CopyButton } from "../parts/controls.tsx";
import { Detail, DetailMessage } from "../parts/detail.tsx";
import { RiskBadge } from "../parts/risk-badge.tsx";
import { Line, SafeText } from "../parts/safe-text.tsx";
import { OfferedRule } from "../policy/offered-rule.tsx";
import { useApp, useDevice, useRoute } from "../state/app.ts";
import { routeHash } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { useRead } from "../state/use-read.ts";
import { Content, ErrorNote, Input, saidIn } from "./row-content.tsx";
import { approvalText, approvalTones, StateMark, states } from "./row-state.tsx";

interface StepProps {
  readonly title: string;
  readonly tone?: string | undefined;
  readonly children: ComponentChildren;
}

/** One of the four steps of an action. */
function Step({ title, tone = "", children }: StepProps) {
  return (
    <li class="step">
      <i class={tone || "dim"} aria-hidden="true" />
      <h2>{title}</h2>
      <div>{children}</div>
    </li>
  );
}

interface RowProps {
  readonly detail: TimelineDetail;
}

/** Why no new rule helps, by what has blocked the action. */
const notByRule: Readonly<Record<string, string>> = {
  limit: "A limit was reached: it passes again later, or with a higher limit in the policy.",
  guard: "No rule allows an agent to change the policy itself. Do it by hand if you want it.",
  failure: "Nothing passes a rule that fails: correct it in the policy.",
};

/** What its user can do about an action that the policy has blocked. */
function HowToAllow({ detail: { row, input } }: RowProps) {
  const why = notByRule[row.decision?.source ?? ""];
  const given = isObject(input?.value) && !input.isCut ? input.value : {};
  const rule = row.tool === undefined ? undefined : allowingRule(row.tool, given);
  if (why !== undefined || rule === undefined)
    return <p>{why ?? "To allow it, add a rule to the policy."}</p>;
  return (
    <details class="more">
      <summary>Allow exactly this from now on</summary>
      <OfferedRule rule={rule} />
    </details>
  );
}

function Decided({ detail }: RowProps) {
  const device = useDevice();
  const { row, explanation } = detail;
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
          <Line text={reason} max={4000} />
        </p>
      )}
      {explanation !== undefined && explanation.why !== reason && (
        <p class="dim small">
          <Line text={explanation.why} max={4000} />
        </p>
      )}
      {explanation?.shadowed.map(({ rule: shadow, decision: would }) => (
        <p key={shadow} class="dim small">
          The rule <code>{line(shadow, 200)}</code> would have said <q>{decisionWord(would)}</q>, but the
          policy only tries it out. Remove its line <code>mode: shadow</code> to put it in force.
        </p>
      ))}
      {isBlocked && mode !== "shadow" && device === undefined && <HowToAllow detail={detail} />}
    </>
  );
}

function Asked({ detail: { row, approval } }: RowProps) {
  const { filter } = useRoute();
  if (row.approval === undefined) return <p class="dim">No human was asked.</p>;
  const { id, risk, status } = row.approval;
  const note = approval?.answer?.note;
  return (
    <>
      <p class="inline">
        <span>{approvalText(row.approval)}</span> <RiskBadge level={risk} />{" "}
        <a href={routeHash({ page: "inbox", id, filter })}>
          {status === "pending" ? "Answer it" : "Open it"}
        </a>
      </p>
      {note !== undefined && (
        <p>
          Reason: <Line text={note} max={4000} />
        </p>
      )}
    </>
  );
}

/** A row with all that is known of it. */
function RowDetail({ detail, onClose }: RowProps & { readonly onClose: () => void }) {
  const { row, input, modifiedInput, output, error, metadata } = detail;
  const { id, agent, session, turn, approval, durationMs, outcome } = row;
  const { router } = useApp();
  const { filter } = useRoute();
  const said = row.tool === undefined ? saidIn(input) : undefined;
  const head = (
    <div class="inline">
      <a class="button quiet compact" href={routeHash({ page: "policy", id: String(id), filter: {} })}>
        Test this event
      </a>
      <CopyButton text={location.href} icon="link">
        Copy link
      </CopyButton>
    </div>
  );
  return (
    <Detail
      key={id}
      className="row-detail"
      beforeTitle={<StateMark state={row.state} />}
      title={<SafeText text={`${line(rowName(row), 100)} ${line(rowSubject(row), 300)}`.trim()} />}
      head={head}
      label="The action"
      onClose={onClose}
    >
      <ol class="steps">
        <Step title="Agent" tone="accent">
          <p>
            <AgentName name={agent} />{" "}
            <span class="dim">
              asked at {formatClock(row.atMs)} (<Age atMs={row.atMs} />)
            </span>
          </p>
          <p class="dim small">
            {row.tool === undefined ? "" : `tool ${displayName(row.tool, { maxLength: 100 })} · `}
            session {line(session, 100)}
            {turn !== undefined && ` · turn ${line(turn, 100)}`}{" "}
            <Button look="link" onClick={() => router.go({ page: "timeline", filter: { agent, session } })}>
              Show this session
            </Button>{" "}
            <a href={routeHash({ page: "timeline", run: { agent, session, turn }, filter })}>
              Read it as a conversation
            </a>
          </p>
        </Step>
        <Step title="Rule" tone={row.decision === undefined ? "" : "accent"}>
          <Decided detail={detail} />
        </Step>
        <Step title="Approval" tone={approval && (approvalTones[approval.status] || "bad")}>
          <Asked detail={detail} />
        </Step>
        <Step title="Effect" tone={states[row.state].tone}>
          <p>
            {states[row.state].effect}
            {durationMs !== undefined && <span class="dim"> It took {formatDuration(durationMs)}.</span>}
          </p>
          {outcome !== undefined && error === undefined && (
            <p class="dim">
              <Line text={outcome} max={1000} />
            </p>
          )}
        </Step>
      </ol>
      {error !== undefined && <ErrorNote error={error} />}
      {said === undefined ? (
        <Input detail={detail} />
      ) : (
        <Content label={rowName(row)} content={{ value: said, isCut: input?.isCut === true }} />
      )}
      {modifiedInput !== undefined && (
        <Content label="input, as the policy changed it" content={modifiedInput} />
      )}
      {output !== undefined && <Content label="output" content={output} />}
      {(metadata !== undefined || said !== undefined) && (
        <details class="more">
          <summary>What else the agent said</summary>
          {said !== undefined && input !== undefined && <Content label="the whole event" content={input} />}
          {metadata !== undefined && <Content label="metadata" content={metadata} />}
        </details>
      )}
      <p class="dim small">
        Row {id} · {line(row.type, 100)} · {states[row.state].text}
        {row.callId !== undefined && ` · call ${line(row.callId, 200)}`}
      </p>
    </Detail>
  );
}

/** The row that the address names, read again when it changes. */
export function OpenRow({ id }: { readonly id: string }) {
  const { router, timeline } = useApp();
  const { groups } = useStore(timeline.state);
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0;
  const seq = groups.flatMap(({ rows }) => rows.find((row) => row.id === number) ?? [])[0]?.seq;
  const { value, problem } = useRead(
    async (client) => (number === 0 ? undefined : client.call("timeline.get", { id: number })),
    { key: id, version: seq },
  );
  const close = () => router.go({ page: "timeline", id: undefined });
  if (number === 0)
    return <DetailMessage text={`A row has a number, not “${id.slice(0, 40)}”.`} onClose={close} />;
  if (value === undefined) return <DetailMessage text={problem ?? "Loading …"} onClose={close} />;
  return <RowDetail detail={value} onClose={close} />;
}
