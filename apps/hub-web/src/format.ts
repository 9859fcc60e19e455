import type { ViewLine } from "@harnesskit/approvals";
import { displayText } from "@harnesskit/wire";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Untrusted text as one safe line. */
export const line = (text: string, maxLength = 300): string => displayText(text, { maxLength });

/** Untrusted text as safe lines. */
export const block = (text: string, maxLength = 50_000): string =>
  displayText(text, { multiline: true, maxLength }).replaceAll("\t", "    ");

/** The same as lines of a view's part. */
export const plainLines = (text: string, maxLength?: number): ViewLine[] =>
  block(text, maxLength)
    .split("\n")
    .map((each) => ({ kind: "plain", text: each }));

/** A length of time as people say it: "3 min", "23 h 59 min", "5 d". */
export const formatSpan = (ms: number): string => {
  const span = Math.max(0, ms);
  if (span < minuteMs) return `${Math.floor(span / 1000)} s`;
  if (span < hourMs) return `${Math.floor(span / minuteMs)} min`;
  const minutes = Math.floor((span % hourMs) / minuteMs);
  if (span < 2 * dayMs) return `${Math.floor(span / hourMs)} h${minutes === 0 ? "" : ` ${minutes} min`}`;
  return `${Math.floor(span / dayMs)} d`;
};

export const formatAge = (atMs: number, nowMs: number): string =>
  nowMs - atMs < 5000 ? "just now" : `${formatSpan(nowMs - atMs)} ago`;

/** How long something took: "120 ms", "1.4 s", "2 min 3 s". */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < minuteMs) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min ${Math.floor((ms % minuteMs) / 1000)} s`;
  return `${Math.floor(ms / hourMs)} h ${Math.floor((ms % hourMs) / minuteMs)} min`;
};

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });

export const formatClock = (atMs: number): string => clock.format(atMs);
export const formatMoment = (atMs: number): string => moment.format(atMs);
export const formatDay = (atMs: number): string => day.format(atMs);
export const formatCount = (count: number): string => count.toLocaleString();
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
