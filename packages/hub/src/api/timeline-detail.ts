import type { ApprovalRecord } from "@harnesskit/approvals";
import type { RowContent, TimelineDetail } from "@harnesskit/protocol/hub";
import { defined, isObject } from "@harnesskit/wire/json";
import type { StoredRow } from "../timeline/timeline-store.ts";

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
