import { DetailMessage } from "../parts/detail.tsx";
import { useApp } from "../state/app.ts";
import { useStore } from "../state/store.ts";
import { useRead } from "../state/use-read.ts";
import { RowDetail } from "./row-detail.tsx";

/** The row that the address names, read again when it changes. */
export function OpenRow({ id }: { readonly id: string }) {
  const { router, timeline } = useApp();
  const { groups } = useStore(timeline.state);
  const number = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : 0;
  const seq = groups.flatMap(({ rows }) => rows.find((row) => row.id === number) ?? [])[0]?.seq;
  const policy = useRead((client) => client.call("policy.get"));
  const { value, problem } = useRead(
    async (client) => (number === 0 ? undefined : client.call("timeline.get", { id: number })),
    { key: id, version: seq },
  );
  const close = () => router.go({ page: "timeline", id: undefined });
  if (number === 0)
    return <DetailMessage text={`A row has a number, not “${id.slice(0, 40)}”.`} onClose={close} />;
  if (value === undefined) return <DetailMessage text={problem ?? "Loading …"} onClose={close} />;
  return <RowDetail detail={value} policyFile={policy.value?.policy.file} onClose={close} />;
}
