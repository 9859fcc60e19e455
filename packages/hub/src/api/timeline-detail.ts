import type { ApprovalRecord } from "@harnesskit/approvals";
import type { HubMethodParams, HubMethodResult, RowContent, TimelineDetail } from "@harnesskit/protocol/hub";
import type { StoredRow, TimelineStore } from "@harnesskit/timeline";
import { defined, isObject } from "@harnesskit/wire/json";

const part = (event: RowContent | undefined, name: "payload" | "metadata"): RowContent | undefined => {
  const value = isObject(event?.value) ? event.value[name] : undefined;
  return event === undefined || value === undefined
    ? undefined
    : { value: value as RowContent["value"], isCut: event.isCut };
};

const inputOf = (event: RowContent | undefined): RowContent | undefined => {
  const payload = part(event, "payload");
  if (payload === undefined || !isObject(payload.value)) return payload ?? event;
  const { arguments: input } = payload.value;
  return input === undefined ? payload : { value: input as RowContent["value"], isCut: payload.isCut };
};

/** A row with its content, as the API shows it. */
export const toDetail = (
  { row, content }: StoredRow,
  approval: ApprovalRecord | undefined,
): TimelineDetail => {
  const { event, ...shown } = content;
  return defined({ ...shown, row, input: inputOf(event), metadata: part(event, "metadata"), approval });
};

/** Characters of JSON after which a page of rows with their content ends: a message has a bounded size. */
const maxPageLength = 1_000_000;

/** Rows of a session with their content, as the API shows them, as many as one message takes. */
export const readSession = async (
  timeline: TimelineStore,
  { afterId = 0, limit = 100, ...of }: HubMethodParams<"timeline.read">,
): Promise<HubMethodResult<"timeline.read">> => {
  const found = await timeline.read({ of, afterId, limit });
  const details: TimelineDetail[] = [];
  let length = 0;
  for (const stored of found) {
    if (length > maxPageLength) break;
    const detail = toDetail(stored, undefined);
    length += JSON.stringify(detail).length;
    details.push(detail);
  }
  const isAll = details.length === found.length && found.length < limit;
  return { details, nextAfterId: isAll ? undefined : details.at(-1)?.row.id };
};
