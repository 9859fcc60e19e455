import { DetailMessage } from "../parts/detail.tsx";
import { useApp, useHello } from "../state/app.ts";
import { useStore } from "../state/store.ts";
import { useRead } from "../state/use-read.ts";
import { DecisionPanel } from "./decision-panel.tsx";

/** The approval that the address names. */
export function OpenApproval({ id }: { readonly id: string }) {
  const { inbox, link, router } = useApp();
  const record = useStore(inbox.records).get(id);
  const answers = useStore(inbox.answers);
  const state = useStore(link.state);
  const hello = useHello();
  const { problem } = useRead(() => inbox.fetch(id), { key: id });
  const close = () => router.go({ page: "inbox", id: undefined });
  if (record === undefined) return <DetailMessage text={problem ?? "Loading …"} onClose={close} />;
  return (
    <DecisionPanel
      key={id}
      record={record}
      answerState={answers.get(id)}
      hello={hello}
      link={state}
      onAnswer={(answer) => void inbox.answer(record, answer)}
      onClose={close}
    />
  );
}
