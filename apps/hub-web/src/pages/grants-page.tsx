import type { Grant } from "@harnesskit/protocol/hub";
import { formatAge, formatMoment, formatSpan, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Empty } from "../parts/empty.tsx";
import { Note } from "../parts/note.tsx";
import { TextList } from "../parts/table.tsx";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { RevokeDialog, useRevoking } from "./revoking.tsx";
import { useLoaded } from "./use-loaded.ts";

interface Listed {
  readonly grant: Grant;
  readonly lines: readonly string[];
}

const isInForce = ({ revoked, expiresAtMs }: Grant, nowMs: number): boolean =>
  revoked === undefined && expiresAtMs > nowMs;

const endText = ({ revoked, expiresAtMs }: Grant, nowMs: number): string => {
  if (revoked !== undefined) return `revoked by ${line(revoked.by, 60)}, ${formatAge(revoked.atMs, nowMs)}`;
  return expiresAtMs > nowMs
    ? `ends in ${formatSpan(expiresAtMs - nowMs)}`
    : `ended ${formatAge(expiresAtMs, nowMs)}`;
};

interface GrantCardProps {
  readonly listed: Listed;
  readonly nowMs: number;
  readonly onRevoke: (() => void) | undefined;
}

function GrantCard({ listed: { grant, lines }, nowMs, onRevoke }: GrantCardProps) {
  return (
    <li class={`panel grant ${onRevoke === undefined ? "over" : ""}`}>
      <header class="panel-head">
        <AgentName name={grant.agent} />
        <strong>{line(grant.tool, 100)}</strong>
        <span class="dim small" title={formatMoment(grant.expiresAtMs)}>
          {endText(grant, nowMs)}
        </span>
        {onRevoke !== undefined && (
          <button type="button" class="button refuse compact" onClick={onRevoke}>
            Revoke …
          </button>
        )}
      </header>
      <TextList className="lines" texts={lines} />
      <p class="dim small">
        Given by {line(grant.by, 60)}, {formatAge(grant.createdAtMs, nowMs)}, with{" "}
        <a href={routeHash({ page: "inbox", id: grant.approvalId, filter: {} })}>this approval</a>
      </p>
    </li>
  );
}

export function GrantsPage({ link }: { readonly link: HubLink }) {
  const nowMs = useNow();
  const { value, problem, reload } = useLoaded(link, () => link.client.call("grants.list"));
  const revoking = useRevoking<Listed>(
    ({ grant: { id } }) => link.client.call("grants.revoke", { id: id }),
    reload,
  );
  const grants = [...(value?.grants ?? [])].reverse();
  const inForce = grants.filter(({ grant }) => isInForce(grant, nowMs));
  const over = grants.filter(({ grant }) => !isInForce(grant, nowMs));
  const card = (listed: Listed, onRevoke: (() => void) | undefined) => (
    <GrantCard key={listed.grant.id} listed={listed} nowMs={nowMs} onRevoke={onRevoke} />
  );
  return (
    <main class="page">
      <header class="page-head">
        <h1>Grants</h1>
        <p class="dim">What you have allowed for always. Each can be revoked at any time.</p>
      </header>
      {problem !== undefined && <Note tone="bad">The grants cannot be read: {problem}</Note>}
      {revoking.failure !== undefined && (
        <Note tone="bad">The grant was not revoked: {revoking.failure}</Note>
      )}
      {value !== undefined && grants.length === 0 && (
        <Empty icon="grants" title="No grant was given yet">
          <p>
            Open an approval and choose <strong>Always …</strong> to allow the same call, or calls like it,
            without a question. The grant is shown whole before it is given.
          </p>
          <a class="button" href="#/inbox">
            Open the inbox
          </a>
        </Empty>
      )}
      <ul class="stack" aria-label="Grants in force">
        {inForce.map((listed) => card(listed, () => revoking.ask(listed)))}
      </ul>
      {over.length > 0 && (
        <>
          <h2 class="cards-head">Over</h2>
          <ul class="stack" aria-label="Grants that are over">
            {over.map((listed) => card(listed, undefined))}
          </ul>
        </>
      )}
      {revoking.item !== undefined && (
        <RevokeDialog title="Revoke this grant?" onRevoke={revoking.confirm} onCancel={revoking.cancel}>
          <TextList className="lines" texts={revoking.item.lines} />
          <p class="dim">Approvals that it has given and that no agent has taken yet are withdrawn.</p>
        </RevokeDialog>
      )}
    </main>
  );
}
