import type { PolicyCheck, TimelineRow } from "@harnesskit/protocol/hub";
import { decisionWord } from "@harnesskit/timeline";
import { formatMoment, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Line } from "../parts/safe-text.tsx";
import { routeHash } from "../state/route.ts";

interface JudgedEventProps {
  readonly row: TimelineRow;
  readonly judged: PolicyCheck["judged"];
  readonly isBroken: boolean;
}

/** What a draft decides on one event, beside what was decided then. */
export function JudgedEvent({ row, judged, isBroken }: JudgedEventProps) {
  const was = row.approval === undefined ? row.decision?.decision : "escalate";
  const now = judged?.decision;
  return (
    <section class="lines tinted" aria-label="This event" aria-live="polite">
      <p>
        <a href={routeHash({ page: "timeline", id: String(row.id), filter: {} })}>
          <Line text={row.summary} max={200} />
        </a>{" "}
        <span class="dim small">
          <AgentName name={row.agent} /> {formatMoment(row.atMs)}
        </span>
      </p>
      {isBroken && <p class="dim">It is judged when the policy has no errors.</p>}
      {!isBroken && judged === undefined && (
        <p class="dim">
          The hub has not kept this event: it was too large, or is not one that a policy decides.
        </p>
      )}
      {judged !== undefined && (
        <>
          <p class="inline">
            {was !== undefined && <span class="chip">was {decisionWord(was)}</span>}
            <span class={`chip ${now === was ? "" : "accent"}`}>
              now {now === undefined ? "no say" : decisionWord(now)}
            </span>
            {judged.rule === undefined ? (
              <span>by the {judged.source}</span>
            ) : (
              <code>{line(judged.rule, 100)}</code>
            )}
          </p>
          <p class="dim small">
            <Line text={judged.why} max={500} />
          </p>
          {judged.shadowed.map(({ rule, decision }) => (
            <p key={rule} class="dim small">
              In shadow, <code>{line(rule, 100)}</code> would have {decisionWord(decision)} it.
            </p>
          ))}
          {judged.isCut && (
            <p class="dim small">A part of the event was not kept, so the whole may be judged otherwise.</p>
          )}
        </>
      )}
    </section>
  );
}
