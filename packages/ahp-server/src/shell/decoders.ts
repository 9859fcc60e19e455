import { isExact, taintOf, unknownMark } from "./marks.ts";

const utf8 = new TextDecoder();

const latin = (bytes: readonly number[]): string => utf8.decode(Uint8Array.from(bytes));

/** The text of a base64 text, its spaces left out; undefined where it is none. */
export const decodeBase64 = (text: string): string | undefined => {
  try {
    const binary = atob(text.replace(/[^A-Za-z0-9+/=]/g, ""));
    return latin([...binary].map((char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
};

/** The text of a base32 text; undefined where it is none. */
export const decodeBase32 = (text: string): string | undefined => {
  const clean = text.replace(/[\s=]/g, "");
  if (!/^[A-Z2-7]*$/.test(clean)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const char of clean) {
    held = ((held << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
    }
  }
  return latin(bytes);
};

/** The text of hexadecimal digits, plain or in the lines of a dump; undefined where there is none. */
export const decodeHex = (text: string): string | undefined => {
  const lines = text.split("\n").map((line) => {
    const dump = /^[0-9a-fA-F]+: ((?:[0-9a-fA-F]{2,4} ?)+)/.exec(line);
    return (dump?.[1] ?? line).replace(/\s/g, "");
  });
  const digits = lines.join("");
  if (!/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  const bytes = digits.match(/[0-9a-fA-F]{2}/g) ?? [];
  return latin(bytes.map((byte) => Number.parseInt(byte, 16)));
};

const simple: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  e: "\u001B",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

const decodeEscapes = (text: string, octal: RegExp): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,4})|([\s\S]))/g,
    (whole: string, hex?: string, short?: string, long?: string, digits?: string, char?: string) => {
      const code = hex ?? short ?? long;
      if (code !== undefined) {
        const point = Number.parseInt(code, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
      }
      if (digits !== undefined) {
        const used = octal.exec(digits)?.[0] ?? digits;
        return String.fromCharCode(Number.parseInt(used, 8) & 0xff) + digits.slice(used.length);
      }
      return simple[char ?? ""] ?? whole;
    },
  );

/** The escapes of `echo -e`. */
export const unescapeEcho = (text: string): string => decodeEscapes(text, /^0?[0-7]{1,3}/);

/** What `printf` prints; with an unknown mark for what is not followed. */
export const printfText = (format: string, args: readonly string[]): string => {
  if (!isExact(format)) return taintOf(format, ...args);
  const text = decodeEscapes(format, /^[0-7]{1,3}/);
  const rest = [...args];
  let printed = "";
  for (let round = 0; round === 0 || (rest.length > 0 && round < 64); round++) {
    const before = rest.length;
    printed += text.replace(
      /%(%|[-+ #0]*[\d*]*(?:\.[\d*]+)?([a-zA-Z]))/g,
      (_, whole: string, kind?: string) => {
        if (whole === "%") return "%";
        const arg = rest.shift() ?? "";
        if (whole.length > 1) return isExact(arg) ? unknownMark : taintOf(arg);
        if (kind === "s" || kind === "d" || kind === "i") return arg;
        if (kind === "b") return unescapeEcho(arg);
        if (kind === "c") return arg.slice(0, 1);
        return unknownMark;
      },
    );
    if (rest.length === before) break;
  }
  return printed;
};

const setOf = (text: string): string[] | undefined => {
  const classes: Readonly<Record<string, string>> = {
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:space:]": " \t\n\r\f\v",
    "[:alpha:]": "A-Za-z",
    "[:alnum:]": "A-Za-z0-9",
  };
  const plain = decodeEscapes(text, /^[0-7]{1,3}/).replace(/\[:\w+:\]/g, (name) => classes[name] ?? name);
  if (plain.includes("[:") || plain.includes("[=")) return undefined;
  const chars: string[] = [];
  const all = [...plain];
  for (let at = 0; at < all.length; at++) {
    const from = all[at] ?? "";
    const to = all[at + 2];
    if (all[at + 1] === "-" && to !== undefined) {
      const last = to.charCodeAt(0);
      if (last - from.charCodeAt(0) > 256) return undefined;
      for (let code = from.charCodeAt(0); code <= last; code++) chars.push(String.fromCharCode(code));
      at += 2;
    } else chars.push(from);
  }
  return chars;
};

/** What `tr` makes of a text; without `to` it deletes. Undefined where the sets are not followed. */
export const translate = (text: string, from: string, to: string | undefined): string | undefined => {
  const source = setOf(from);
  const target = to === undefined ? [] : setOf(to);
  if (source === undefined || target === undefined || !isExact(from + (to ?? ""))) return undefined;
  const map = new Map<string, string>();
  source.forEach((char, index) => {
    map.set(char, to === undefined ? "" : (target[Math.min(index, target.length - 1)] ?? char));
  });
  return [...text].map((char) => map.get(char) ?? char).join("");
};
