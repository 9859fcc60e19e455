import type { ApprovalRecord } from "@harnesskit/approvals";
import { useState } from "preact/hooks";
import { plural } from "../format.ts";
import { stepIn, useKey } from "../keys.ts";
import { Button } from "../parts/controls.tsx";
import { CommandLine, Empty } from "../parts/empty.tsx";
import { Note } from "../parts/note.tsx";
import { useApp, useHello, useRoute } from "../state/app.ts";
import { endedOf, pendingOf, waitingIn } from "../state/inbox.ts";
import { useNow } from "../state/now.ts";
import { routeHash } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { InboxCard } from "./inbox-card.tsx";

/** Ended approvals that are listed under those that wait. */
const maxEndedShown = 20;

/** What waits for a human, the oldest first. */
export function InboxColumn({ className }: { readonly className: string }) {
  const { inbox, router } = useApp();
  const records = useStore(inbox.records);
  const answers = useStore(inbox.answers);
  const isLoaded = useStore(inbox.isLoaded);
  const problem = useStore(inbox.problem);
  const hello = useHello();
  const route = useRoute();
  const nowMs = useNow();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<"approve" | "reject">();
  const pending = pendingOf(records);
  const waiting = waitingIn(records);
  const ended = endedOf(records).slice(0, maxEndedShown);
  const openId = route.page === "inbox" ? route.id : undefined;
  const chosenRecords = pending.filter(({ id }) => chosen.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosenRecords.map((record) => record.id));
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const open = (id: string | undefined) => {
    if (id !== undefined) router.go({ page: "inbox", id });
  };
  const listed = openId === undefined ? pending : [...pending, ...ended];
  const step = (by: 1 | -1) => open(stepIn(listed, ({ id }) => id === openId, by)?.id);
  useKey("j", () => step(1));
  useKey("k", () => step(-1));
  // These keys answer what is shown: with none open, they open the first.
  const openFirst = () => open(pending[0]?.id);
  for (const key of ["a", "r", "w"]) useKey(key, openFirst, openId === undefined);
  useKey("x", () => {
    if (openId === undefined) openFirst();
    else if (records.get(openId)?.status === "pending") toggle(openId);
  });
  useKey("A", () => chosenRecords.length > 0 && setBulk("approve"));
  useKey("R", () => chosenRecords.length > 0 && setBulk("reject"));

  const card = (record: ApprovalRecord) => (
    <InboxCard
      key={record.id}
      record={record}
      answerState={answers.get(record.id)}
      isOpen={record.id === openId}
      isChosen={chosen.has(record.id)}
      nowMs={nowMs}
      href={routeHash({ page: "inbox", id: record.id, filter: route.filter })}
      onChoose={record.status === "pending" ? () => toggle(record.id) : undefined}
    />
  );
  return (
    <section class={`column inbox ${className}`} aria-label="Inbox">
      <header class="column-head">
        {chosenRecords.length === 0 ? (
          <>
            <h1>Inbox</h1>
            {waiting > 0 && <span class="dim small nowrap">{plural(waiting, "question")} for you</span>}
          </>
        ) : (
          <>
            <h1>{chosenRecords.length} selected</h1>
            <Button look="primary compact" icon="check" onClick={() => setBulk("approve")}>
              Approve …
            </Button>
            <Button look="refuse compact" icon="cross" onClick={() => setBulk("reject")}>
              Refuse …
            </Button>
            <Button look="quiet compact" onClick={() => setChosen(new Set())}>
              Clear
            </Button>
          </>
        )}
      </header>
      <div class="scroll">
        {problem !== undefined && <Note tone="bad">The inbox cannot be read: {problem}</Note>}
        {pending.length === 0 && isLoaded && (
          <Empty icon="inbox" title="Nothing waits for you">
            <p>
              An action that a rule escalates appears here, and waits until you answer. To try it, ask an
              agent through this hub:
            </p>
            <CommandLine args={`${hello?.hub.commands?.run ?? "run"} "write hello.txt: hi"`} />
            <p class="small">Without an API key, an offline planner answers. The terminal asks you, too.</p>
          </Empty>
        )}
        {pending.length === 0 && !isLoaded && problem === undefined && <p class="loading dim">Loading …</p>}
        {pending.length > 0 && (
          <ul class="cards" aria-label="Waiting approvals">
            {pending.map(card)}
          </ul>
        )}
        {ended.length > 0 && (
          <>
            <h2 class="cards-head">Answered just now</h2>
            <ul class="cards" aria-label="Answered approvals">
              {ended.map(card)}
            </ul>
          </>
        )}
      </div>
      {bulk !== undefined && (
        <BulkDialog
          records={chosenRecords}
          decision={bulk}
          onClose={() => {
            setBulk(undefined);
            setChosen(new Set());
          }}
        />
      )}
    </section>
  );
}
