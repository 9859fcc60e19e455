import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** An own field; inherited ones do not count. */
export const cardField = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** What an engine wrote as one line that hides nothing, cut after so many characters. */
export const safeLine = (text: string, maxLength = 300): string =>
  displayText(text.slice(0, maxLength * 2).replace(/\s+/g, " "), { maxLength }).trim();

/** A string field that is not empty. */
export const cardLine = (value: unknown, name: string, maxLength?: number): string | undefined => {
  const text = cardField(value, name);
  return typeof text === "string" && text.trim() !== "" ? safeLine(text, maxLength) : undefined;
};

/** Any value as it is shown in a cell. */
export const cellText = (value: unknown, maxLength = 300): string => {
  if (value === undefined || value === null) return "";
  return safeLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), maxLength);
};

/** The first of a list, and how many are left out. */
export const firstOf = <T>(list: readonly T[], count: number): { kept: readonly T[]; hidden: number } => ({
  kept: list.slice(0, count),
  hidden: Math.max(0, list.length - count),
});
