import { useEffect, useState } from "preact/hooks";
import { DetailMessage } from "../parts/detail-message.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import type { Inbox } from "../state/inbox.ts";
import { useNow } from "../state/now.ts";
import type { Router } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { DecisionPanel } from "./decision-panel.tsx";

interface OpenApprovalProps {
  readonly id: string;
  readonly link: HubLink;
  readonly router: Router;
  readonly inbox: Inbox;
}

/** The approval that the address names. */
export function OpenApproval({ id, link, router, inbox }: OpenApprovalProps) {
  const record = useStore(inbox.records).get(id);
  const answers = useStore(inbox.answers);
  const state = useStore(link.state);
  const hello = useStore(link.hello);
  const nowMs = useNow();
  const [problem, setProblem] = useState<string>();
  const isKnown = record !== undefined;
  useEffect(() => {
    if (isKnown || state !== "ready") return;
    setProblem(undefined);
    inbox.fetch(id).catch((error: unknown) => setProblem(failureText(error)));
  }, [inbox, id, isKnown, state]);
  const close = () => router.go({ page: "inbox", id: undefined });
  if (record === undefined) return <DetailMessage text={problem ?? "Loading …"} onClose={close} />;
  return (
    <DecisionPanel
      key={id}
      record={record}
      answerState={answers.get(id)}
      hello={hello}
      link={state}
      nowMs={nowMs}
      onAnswer={(answer) => void inbox.answer(record, answer)}
      onClose={close}
    />
  );
}
