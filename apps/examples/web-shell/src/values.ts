import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** An own field; inherited ones do not count. */
export const valueAt = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** What an engine wrote, as text that hides nothing and is cut after so many characters. */
export const safeText = (text: string, maxLength = 20_000): string =>
  displayText(text, { multiline: true, maxLength });

/** The same in one line. */
export const safeLine = (text: string, maxLength = 300): string =>
  displayText(text.slice(0, maxLength * 2).replace(/\s+/g, " "), { maxLength }).trim();

/** A string field that is not empty. */
export const lineOf = (value: unknown, name: string, maxLength?: number): string | undefined => {
  const text = valueAt(value, name);
  return typeof text === "string" && text.trim() !== "" ? safeLine(text, maxLength) : undefined;
};
