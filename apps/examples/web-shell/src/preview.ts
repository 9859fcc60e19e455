import type { ShellStreamEvent } from "@harnesskit/shell-client";

/** What the engine is about to answer: shown until the answer is there, and never kept. */
export interface PreviewText {
  readonly kind: "text";
  readonly key: string;
  readonly text: string;
}
export interface PreviewProgress {
  readonly kind: "progress";
  readonly key: string;
  readonly text: string;
  readonly state: "running" | "done" | "failed";
  /** From 0 to 1. */
  readonly fraction: number | undefined;
}
export type PreviewPart = PreviewText | PreviewProgress;

const maxParts = 100;
/** How much of a message is shown before it is there: its end. */
const maxTextLength = 20_000;

/** The parts after an event; the same list where nothing has changed. */
export const nextPreview = (
  parts: readonly PreviewPart[],
  event: ShellStreamEvent,
): readonly PreviewPart[] => {
  if (event.type !== "text" && event.type !== "progress") return [];
  const part = toPart(parts, event);
  const at = parts.findIndex(({ key }) => key === part.key);
  if (at >= 0) return parts.with(at, part);
  return parts.length < maxParts ? [...parts, part] : parts;
};

const toPart = (
  parts: readonly PreviewPart[],
  event: Extract<ShellStreamEvent, { type: "text" | "progress" }>,
): PreviewPart => {
  if (event.type === "progress") {
    const { directiveId, state, fraction, message, actionType = "a directive" } = event;
    return { kind: "progress", key: `progress ${directiveId}`, text: message ?? actionType, state, fraction };
  }
  const key = `text ${event.messageId}`;
  const before = parts.find((part) => part.key === key)?.text ?? "";
  return { kind: "text", key, text: `${before}${event.delta}`.slice(-maxTextLength) };
};
