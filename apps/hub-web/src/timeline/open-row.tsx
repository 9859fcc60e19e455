import type { TimelineDetail } from "@harnesskit/protocol/hub";
import { useEffect, useState } from "preact/hooks";
import { useLoaded } from "../pages/use-loaded.ts";
import { DetailMessage } from "../parts/detail-message.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import { type Router, routeHash, runId } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import type { Timeline } from "../state/timeline.ts";
import { RowDetail } from "./row-detail.tsx";

interface OpenRowProps {
  readonly id: string;
  readonly link: HubLink;
  readonly router: Router;
  readonly timeline: Timeline;
}

/** The row that the address names, read again when it changes. */
export function OpenRow({ id, link, router, timeline }: OpenRowProps) {
  const { groups, filter } = useStore(timeline.state);
  const state = useStore(link.state);
  const [detail, setDetail] = useState<TimelineDetail>();
  const [problem, setProblem] = useState<string>();
  const { value } = useLoaded(link, () => link.client.call("policy.get"));
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : undefined;
  const seq = groups.flatMap(({ rows }) => rows.find((row) => row.id === number) ?? [])[0]?.seq;
  useEffect(() => {
    if (number === undefined || state !== "ready") return undefined;
    let isLate = false;
    link.client.call("timeline.get", { id: number }).then(
      (found) => {
        if (isLate) return;
        setDetail(found);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (!isLate) setProblem(failureText(error));
      },
    );
    return () => {
      isLate = true;
    };
  }, [link, number, seq, state]);
  const close = () => router.go({ page: "timeline", id: undefined });
  if (number === undefined)
    return <DetailMessage text={`A row has a number, not “${id.slice(0, 40)}”.`} onClose={close} />;
  if (detail?.row.id !== number) {
    return <DetailMessage text={problem ?? "Loading …"} onClose={close} />;
  }
  const { agent, session, turn } = detail.row;
  const run = { agent, session, ...(turn !== undefined && { turn }) };
  return (
    <RowDetail
      detail={detail}
      policyFile={value?.policy.file}
      approvalHref={(approvalId) => routeHash({ page: "inbox", id: approvalId, filter })}
      runHref={routeHash({ page: "timeline", id: runId, filter: run })}
      onClose={close}
      onSession={() => router.go({ page: "timeline", filter: { agent, session } })}
    />
  );
}
