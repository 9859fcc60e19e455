import type { ApprovalRecord, ApprovalStore } from "@harnesskit/approvals";
import type { StoredRow, TimelineStore } from "@harnesskit/timeline";
import { jsonDifference } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";

/** What was copied of one kind. */
export interface CopyCount {
  /** How many there are. */
  readonly total: number;
  /** How many of them this run has copied; the others were there already. */
  readonly copied: number;
}

export const conflict = (what: string, id: string): CliError =>
  new CliError(
    "copy_conflict",
    `${what} ${id} already exists in TO with different content and was not overwritten`,
    { hint: "Copy to an empty store, or remove it there." },
  );

/** A value as JSON has it. */
const plainJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Whether both are the same JSON, whatever the order of their keys. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  jsonDifference(plainJson(one), plainJson(other)) === undefined;

interface CopyKind<T> {
  readonly what: string;
  readonly idOf: (one: T) => string;
  /** What TO has in its place; nothing else may be there. */
  readonly find: (one: T) => unknown;
  /** What is compared: without what each store gives on its own. @default all of it */
  readonly said?: (one: T) => unknown;
  readonly put: (one: T) => unknown;
}

/** Copies what TO does not have. Rejects with a `CliError` `copy_conflict` where it has something else. */
export const copyEach = async <T>(
  from: Iterable<T> | AsyncIterable<T>,
  { what, idOf, find, said = (one) => one, put }: CopyKind<T>,
): Promise<CopyCount> => {
  let [total, copied] = [0, 0];
  for await (const one of from) {
    total++;
    const there = (await find(one)) as T | null | undefined;
    if (there === undefined || there === null) {
      await put(one);
      copied++;
    } else if (!sameJson(said(there), said(one))) throw conflict(what, idOf(one));
  }
  return { total, copied };
};

/** Everything that is read by pages. @param read the page behind a place, and the place behind that page */
export async function* allOf<T, At>(
  first: At,
  read: (at: At) => Promise<readonly [items: readonly T[], next: At]>,
): AsyncGenerator<T> {
  for (let at = first; ; ) {
    const [items, next] = await read(at);
    yield* items;
    if (items.length === 0) return;
    at = next;
  }
}

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
