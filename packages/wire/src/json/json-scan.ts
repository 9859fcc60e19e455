const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openingBrace = 0x7b;

export const isOpening = (unit: number): boolean => unit === 0x5b || unit === 0x7b;
export const isClosing = (unit: number): boolean => unit === 0x5d || unit === 0x7d;
export const isQuote = (unit: number): boolean => unit === quote;

/** Where the string that begins at `start` ends; the end of the JSON text for an unterminated one. */
export const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
};

/**
 * The names of the members of the outermost object, in the order of the JSON text and as often as they are in it: `JSON.parse` keeps the last
 * member of a name, and another reader may keep the first. Takes valid JSON; an array or a scalar has no names.
 */
export const memberNames = (text: string): string[] => {
  const names: string[] = [];
  if (!/^\s*\{/.test(text)) return names;
  let depth = 0;
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      const end = endOfString(text, at);
      if (isName) names.push(JSON.parse(text.slice(at, end + 1)) as string);
      isName = false;
      at = end;
    } else if (isOpening(unit)) isName = ++depth === 1;
    else if (isClosing(unit)) depth--;
    else if (unit === comma) isName = depth === 1;
  }
  return names;
};

/** Whether an object at any depth has two members of one name: another reader may keep the first. Takes valid JSON. */
export const hasRepeatedNames = (text: string): boolean => {
  /** The names of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (isName && names) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (names.has(name)) return true;
        names.add(name);
      }
      isName = false;
      at = end;
    } else if (isOpening(unit)) {
      isName = unit === openingBrace;
      open.push(isName ? new Set() : undefined);
    } else if (isClosing(unit)) open.pop();
    else if (unit === comma) isName = open.at(-1) !== undefined;
  }
  return false;
};
