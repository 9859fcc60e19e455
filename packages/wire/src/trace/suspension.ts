import type { Span } from "./span.ts";

const prefix = "openarmature.suspension.metadata";

/** Keys of a suspension's metadata that say what kind of question it is, and nothing of what was asked. */
const plainKeys: ReadonlySet<string> = new Set(["kind", "timeout_hint", "fan_out_index", "branch_name"]);

/** Adds the suspension that a span waits for or goes on from, as OpenArmature names it; most of its metadata is content. */
export const recordSuspension = (
  span: Span | undefined,
  signalId: string,
  metadata: Readonly<Record<string, unknown>> = {},
): void => {
  if (span === undefined) return;
  const entries = Object.entries(metadata).slice(0, 64);
  const plain = entries.filter(([key]) => plainKeys.has(key));
  const toText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  span.set({
    "openarmature.suspension.signal_id": signalId,
    ...Object.fromEntries(plain.map(([key, value]) => [`${prefix}.${key}`, toText(value)])),
  });
  span.content(Object.fromEntries(entries.map(([key, value]) => [`${prefix}.${key.slice(0, 128)}`, value])));
};
