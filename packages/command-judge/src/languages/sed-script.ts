/** What a script of sed runs and which files it names. */
export interface SedScript {
  /** Commands that it runs; an empty one is a line of its input. */
  readonly runs: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Whether it is wholly understood. */
  readonly isKnown: boolean;
}

const address = String.raw`(?:\d+(?:~\d+)?|\$|\/(?:[^\/\\\n]|\\[\s\S])*\/[IM]*|\\(.)(?:(?!\1)[^\\\n]|\\[\s\S])*\1[IM]*)`;
const second = address.replace("(.)", "(?<other>.)").replaceAll(String.raw`\1`, String.raw`\k<other>`);
const addresses = new RegExp(String.raw`(?:${address}\s*(?:,\s*(?:${second}|[+~]\d+)\s*)?)?(?:!\s*)*`, "y");
const end = /[ \t\r]*(?=[;}#\n]|$)/y;
const line = /[^\n]*/y;
/** Text to be put in: up to the first line end without a backslash before it. */
const text = /(?:[^\\\n]|\\[\s\S])*\\?/y;
const label = /[ \t]*[^;}\s]*/y;

/** Reads a script as GNU sed does. What it does not know makes it not known. */
export const readSedScript = (script: string): SedScript => {
  const runs: string[] = [];
  const reads: string[] = [];
  const writes: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(script)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  /** The two parts of `s` and `y`; false where they have no end. */
  const takeParts = (): boolean => {
    const mark = script[at++];
    if (mark === undefined || mark === "\\" || mark === "\n") return false;
    for (let left = 2; at < script.length; at++) {
      if (script[at] === "\\") at++;
      else if (script[at] === mark && --left === 0) {
        at++;
        return true;
      }
    }
    return false;
  };
  const takeFlags = (): boolean => {
    for (;;) {
      take(/[ \t\r]*[gpiImM\d]*/y);
      if (script[at] === "e") {
        at++;
        runs.push("");
      } else if (script[at] === "w") {
        at++;
        writes.push((take(line) ?? "").trim());
        return true;
      } else return take(end) !== undefined && !/[ \t\r]/.test(script[at] ?? "");
    }
  };
  const takeCommand = (): boolean => {
    const command = script[at++] ?? "";
    if (command === "{") return true;
    if (/[=dDgGhHnNpPxzF]/.test(command)) return take(end) !== undefined;
    if (/[lLqQ]/.test(command)) return take(/[ \t]*\d*/y) !== undefined && take(end) !== undefined;
    if (/[aic]/.test(command)) return take(text) !== undefined;
    if (/[:btTv]/.test(command)) return take(label) !== undefined;
    if (command === "y") return takeParts() && take(end) !== undefined;
    if (command === "s") return takeParts() && takeFlags();
    const rest = (take(line) ?? "").trim();
    if (command === "e") runs.push(rest);
    else if (/[rR]/.test(command)) reads.push(rest);
    else if (/[wW]/.test(command)) writes.push(rest);
    else return false;
    return true;
  };
  for (;;) {
    take(/[\s;}]*/y);
    if (at >= script.length) return { runs, reads, writes, isKnown: true };
    if (script[at] === "#") {
      take(line);
      continue;
    }
    take(addresses);
    if (at < script.length && !takeCommand()) return { runs, reads, writes, isKnown: false };
  }
};
