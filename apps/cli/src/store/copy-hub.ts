import type { ApprovalRecord, ApprovalStore } from "@harnesskit/approvals";
import type { StoredRow, TimelineStore } from "@harnesskit/timeline";
import { allOf, type CopyCount, conflict, copyEach, sameJson } from "./copy-kind.ts";

const limit = 100;

/** Without the number that each store gives on its own. */
const unnumbered = ({ seq: _, ...record }: { readonly seq: number }): object => record;

export const copyApprovals = (from: ApprovalStore, to: ApprovalStore): Promise<CopyCount> => {
  const records = allOf<ApprovalRecord, number>(0, async (afterSeq) => {
    const page = await from.page({ afterSeq, limit });
    return [page.records, page.nextSeq];
  });
  return copyEach(records, {
    what: "the approval",
    idOf: ({ id }) => id,
    find: ({ id }) => to.get(id),
    said: unnumbered,
    put: (record) => to.restore({ records: [record] }),
  });
};

export const copyApprovalGrants = async (from: ApprovalStore, to: ApprovalStore): Promise<CopyCount> => {
  const there = new Map((await to.grants()).map((each) => [each.id, each]));
  return copyEach(await from.grants(), {
    what: "the grant",
    idOf: ({ id }) => id,
    find: ({ id }) => there.get(id),
    said: unnumbered,
    put: (grant) => to.restore({ grants: [grant] }),
  });
};

const rowsOf = (store: TimelineStore): AsyncGenerator<StoredRow> =>
  allOf<StoredRow, number>(0, async (afterId) => {
    const rows = await store.read({ afterId, limit });
    return [rows, rows.at(-1)?.row.id ?? afterId];
  });

/** What a row says, without what each store gives on its own. */
const said = ({ row: { id: _, seq: __, changedAtMs: ___, ...row }, content }: StoredRow) => ({
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
    await to.write(batch.map((stored) => ({ type: "add", ...said(stored) })));
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
      if (batch.length === limit) await write();
    } else if (!sameJson(said(found), said(stored))) throw conflict("the row", String(stored.row.id));
  }
  if (!isBehind && (await there.next()).value !== undefined)
    throw conflict("a row behind row", String(total));
  if (batch.length > 0) await write();
  return { total, copied };
};
