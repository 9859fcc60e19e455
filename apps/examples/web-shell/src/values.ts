import { displayText } from "@harnesskit/wire";

type Fields = Readonly<Record<string, unknown>>;

/** An object that is no list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A field of its own: what every object inherits is none. */
export const fieldOf = (value: unknown, name: string): unknown =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** What an engine wrote, as text that hides nothing and is cut after so many characters. */
export const safeText = (text: string, maxLength = 20_000): string =>
  displayText(text, { multiline: true, maxLength });

/** The same in one line. */
export const safeLine = (text: string, maxLength = 300): string =>
  displayText(text.slice(0, maxLength * 2).replace(/\s+/g, " "), { maxLength }).trim();

/** A text field, where there is one that is not empty. */
export const lineOf = (value: unknown, name: string, maxLength?: number): string | undefined => {
  const text = fieldOf(value, name);
  return typeof text === "string" && text.trim() !== "" ? safeLine(text, maxLength) : undefined;
};
