import type { Grant } from "@harnesskit/protocol/hub";
import { formatAge, formatSpan, line } from "../format.ts";
import { AgentName } from "../parts/agent-name.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { type Allowed, AllowedList } from "../parts/revocable.tsx";
import { TextList } from "../parts/safe-text.tsx";
import { useApp } from "../state/app.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useRead } from "../state/use-read.ts";

const endText = ({ revoked, expiresAtMs }: Grant, nowMs: number): string => {
  if (revoked !== undefined) return `revoked by ${line(revoked.by, 60)}, ${formatAge(revoked.atMs, nowMs)}`;
  if (expiresAtMs > nowMs) return `ends in ${formatSpan(expiresAtMs - nowMs)}`;
  return `ended ${formatAge(expiresAtMs, nowMs)}`;
};

/** A grant as its card shows it. */
const toAllowed = (grant: Grant, lines: readonly string[], nowMs: number): Allowed => ({
  id: grant.id,
  title: (
    <>
      <AgentName name={grant.agent} />
      <strong>{line(grant.tool, 100)}</strong>
    </>
  ),
  when: endText(grant, nowMs),
  isOver: grant.revoked !== undefined || grant.expiresAtMs <= nowMs,
  text: <TextList className="lines bullets" texts={lines} />,
  foot: (
    <>
      Given by {line(grant.by, 60)}, {formatAge(grant.createdAtMs, nowMs)}, with{" "}
      <a href={routeHash({ page: "inbox", id: grant.approvalId, filter: {} })}>this approval</a>
    </>
  ),
});

export function GrantsPage() {
  const { client } = useApp().link;
  const nowMs = useNow();
  const { value, problem, reload } = useRead(() => client.call("grants.list"));
  const grants = (value?.grants ?? []).map(({ grant, lines }) => toAllowed(grant, lines, nowMs)).reverse();
  return (
    <Page
      title="Grants"
      head={<p class="dim">What you have allowed for always. Each can be revoked at any time.</p>}
      what="grants"
      problem={problem}
      isLoading={value === undefined}
    >
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
      <AllowedList
        label="Grants"
        items={grants.sort((a, b) => Number(a.isOver) - Number(b.isOver))}
        what="grant"
        consequence="Approvals that it has given and that no agent has taken yet are withdrawn."
        revoke={(id) => client.call("grants.revoke", { id })}
        reload={reload}
      />
    </Page>
  );
}
