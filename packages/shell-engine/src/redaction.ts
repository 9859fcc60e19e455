import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { EnvironmentState, ShellAuth } from "@harnesskit/protocol/openharness";

/** Removes what must not be shown from a string, or from every string in a JSON value. */
export type Redact = <T extends JsonValue>(value: T) => T;

const minLength = 4;
const maxTexts = 4096;
const removed = "[removed]";

const collect = (value: JsonValue | undefined, texts: Set<string>): void => {
  if (texts.size >= maxTexts) return;
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value);
    if (text.length >= minLength) texts.add(text);
  } else if (typeof value === "object" && value !== null) {
    for (const entry of Object.values(value)) collect(entry, texts);
  }
};

const mapTexts = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (typeof value === "string") return change(value);
  if (typeof value === "number") {
    const changed = change(String(value));
    return changed === String(value) ? value : changed;
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => mapTexts(entry, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [change(key), mapTexts(entry, change)]),
  );
};

/** Removes nothing. */
export const redactNothing: Redact = (value) => value;

/** What the user wrote, whole and line by line, because a handler may quote a part of it. */
const collectIntent = (intent: string, texts: Set<string>): void => {
  for (const text of [intent, ...intent.split("\n")]) collect(text.trim(), texts);
};

/**
 * Removes the values of `auth`, and of a state that is not public its values and the user's intent, from everything that
 * is shown or logged. Values below four characters stay, because they occur everywhere. If there are too many to look for, every string is removed.
 * Nothing is looked at before something is shown.
 */
export const createRedact = (
  auth: ShellAuth | undefined,
  state: EnvironmentState | undefined,
  intent: string | undefined,
): Redact => {
  const isPublic = state === undefined || state.privacy_tier === "public";
  if (auth === undefined && isPublic) return redactNothing;
  let texts: string[] | undefined;
  const change = (text: string): string => {
    if (texts === undefined) {
      const found = new Set<string>();
      collect(auth as JsonValue | undefined, found);
      if (!isPublic) {
        const { privacy_tier: _tier, ...rest } = state;
        collect(rest as JsonValue, found);
        if (intent !== undefined) collectIntent(intent, found);
      }
      texts = [...found].sort((one, other) => other.length - one.length);
    }
    if (texts.length >= maxTexts) return removed;
    let kept = text;
    for (const secret of texts) if (kept.includes(secret)) kept = kept.replaceAll(secret, removed);
    return kept;
  };
  return <T extends JsonValue>(value: T): T => mapTexts(value, change) as T;
};
