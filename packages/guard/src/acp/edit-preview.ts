import { settleWithin } from "@harnesskit/wire/time";
import type { ProxiedAction } from "../proxy/rulings.ts";
import type { AcpPeers } from "./acp-peers.ts";

/** How long a preview may take. */
const previewMs = 1000;

/** An edit with what it would change, for the human who is asked about it; any other action as it is. Never rejects. */
export const withPreview = async (
  action: ProxiedAction,
  { previewOf, clock }: Pick<AcpPeers, "previewOf" | "clock">,
): Promise<ProxiedAction> => {
  const { kind, metadata = {} } = action;
  const { workspace } = metadata;
  const isEdit = kind === "edit" || kind === "write";
  if (previewOf === undefined || !isEdit || typeof workspace !== "string") return action;
  const made = await settleWithin(previewOf(action.arguments, workspace), {
    name: "the preview of an edit",
    timeoutMs: previewMs,
    clock,
  });
  return made.status !== "done" || made.value === undefined
    ? action
    : { ...action, metadata: { ...metadata, preview: made.value } };
};
