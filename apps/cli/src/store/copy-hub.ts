import type { ApprovalRecord, ApprovalStore } from "@harnesskit/approvals";
import type { StoredRow, TimelineStore } from "@harnesskit/timeline";
import { type CopyCount, conflict, sameJson } from "./copy-count.ts";

const pageSize = 100;

async function* recordsOf(store: ApprovalStore): AsyncGenerator<ApprovalRecord> {
  for (let afterSeq = 0; ; ) {
    const page = await store.page({ afterSeq, limit: pageSize });
    yield* page.records;
    if (page.records.length === 0) return;
    afterSeq = page.nextSeq;
  }
}

/** Without the number that each store gives on its own. */
const unnumbered = ({ seq: _, ...record }: { readonly seq: number }): object => record;

export const copyApprovals = async (from: ApprovalStore, to: ApprovalStore): Promise<CopyCount> => {
  let [total, copied] = [0, 0];
  for await (const record of recordsOf(from)) {
    total++;
    const there = await to.get(record.id);
    if (there === undefined) copied += await to.restore({ records: [record] });
    else if (!sameJson(unnumbered(there), unnumbered(record))) throw conflict("the approval", record.id);
  }
  return { total, copied };
};

export const copyApprovalGrants = async (from: ApprovalStore, to: ApprovalStore): Promise<CopyCount> => {
  const [all, there] = [await from.grants(), new Map((await to.grants()).map((each) => [each.id, each]))];
  let copied = 0;
  for (const grant of all) {
    const found = there.get(grant.id);
    if (found === undefined) copied += await to.restore({ grants: [grant] });
    else if (!sameJson(unnumbered(found), unnumbered(grant))) throw conflict("the grant", grant.id);
  }
  return { total: all.length, copied };
};

async function* rowsOf(store: TimelineStore): AsyncGenerator<StoredRow> {
  for (let afterId = 0; ; ) {
    const rows = await store.read({ afterId, limit: pageSize });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    afterId = last.row.id;
  }
}

/** What a row says, without what each store gives on its own. */
const said = ({ row: { id: _, seq: __, changedAtMs: ___, ...row }, content }: StoredRow): object => ({
  row,
  content,
});

/**
 * Copies the rows in their order behind those that an interrupted copy has left, which must be the first ones of FROM. A row that is still open is
 * found by its approval in TO, and not by its call.
 */
export const copyTimeline = async (from: TimelineStore, to: TimelineStore): Promise<CopyCount> => {
  const there = rowsOf(to);
  let [total, copied] = [0, 0];
  let batch: StoredRow[] = [];
  const write = async () => {
    await to.write(
      batch.map(({ row: { id: _, seq: __, changedAtMs: ___, ...row }, content }) => ({
        type: "add",
        row,
        content,
      })),
    );
    copied += batch.length;
    batch = [];
  };
  let isBehind = false;
  for await (const stored of rowsOf(from)) {
    total++;
    const found = isBehind ? undefined : (await there.next()).value;
    if (found === undefined) {
      isBehind = true;
      batch.push(stored);
      if (batch.length === pageSize) await write();
    } else if (!sameJson(said(found), said(stored))) throw conflict("the row", String(stored.row.id));
  }
  if (!isBehind && (await there.next()).value !== undefined)
    throw conflict("a row behind row", String(total));
  if (batch.length > 0) await write();
  return { total, copied };
};
