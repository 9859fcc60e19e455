import { randomId } from "../time/clock.ts";
import { endOfString, isQuote } from "./json-scan.ts";

const minus = 0x2d;
const isNumberStart = (unit: number): boolean => unit === minus || (unit >= 0x30 && unit <= 0x39);
const numberToken = /[-+.\deE]+/y;

/** A JSON text with each of its numbers replaced; what is in strings stays. */
const replaceNumbers = (text: string, replace: (digits: string) => string): string => {
  let replaced = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isQuote(unit)) at = endOfString(text, at);
    else if (isNumberStart(unit)) {
      numberToken.lastIndex = at;
      const [digits = ""] = numberToken.exec(text) ?? [];
      replaced += text.slice(from, at) + replace(digits);
      from = at + digits.length;
      at = from - 1;
    }
  }
  return from === 0 ? text : replaced + text.slice(from);
};

/** An integer of which JavaScript would show other digits, or a number beyond its range. */
const isRounded = (digits: string): boolean => {
  const value = Number(digits);
  if (!Number.isFinite(value)) return true;
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(digits) && String(value) !== digits;
};

/**
 * A JSON text with each number that `JSON.parse` would round (an integer beyond 2^53, `1e400`) as the string of its digits, so that who judges
 * the value sees what another reader gets. Takes valid JSON, also a part of it that ends between two values.
 */
export const quoteRoundedNumbers = (text: string): string =>
  replaceNumbers(text, (digits) => (isRounded(digits) ? `"${digits}"` : digits));

/**
 * The first number of a JSON text that would be read as another one: an integer whose digits are not kept, beyond 2^53, or
 * one that is too large. Undefined where each keeps its value; a fraction may be rounded.
 */
export const roundedNumber = (text: string): string | undefined => {
  let found: string | undefined;
  replaceNumbers(text, (digits) => {
    if (found === undefined && isRounded(digits)) found = digits;
    return digits;
  });
  return found;
};

let mark: string | undefined;
const ownMark = (): string => {
  mark ??= randomId("number");
  return mark;
};

/**
 * A JSON text with each number that `JSON.stringify` would write otherwise (`1.0`, `1e400`, an integer beyond 2^53) as a string that only this
 * process can make: what is parsed from it, changed and written again gets its digits back from {@link unmarkNumbers}.
 */
export const markNumbers = (text: string): string =>
  replaceNumbers(text, (digits) =>
    JSON.stringify(Number(digits)) === digits ? digits : `"${ownMark()}${digits}"`,
  );

/** The JSON text of what was parsed from {@link markNumbers}, with the digits of its numbers. */
export const unmarkNumbers = (text: string): string =>
  text.replace(new RegExp(`"${ownMark()}([-+.\\deE]+)"`, "g"), "$1");
