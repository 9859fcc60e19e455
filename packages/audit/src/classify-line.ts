import { openingOf, parseLine } from "./parse-line.ts";
import type { RawLine } from "./split-lines.ts";
import type { AuditProblemKind } from "./verify-result.ts";

/** How many lines behind a wrong one are looked at to tell what happened. */
const lookahead = 4096;

/** `seq` as the line has it, or undefined for one that fails its check. `begins` is what a first line would follow. */
const look = ({ bytes, isTooLong, isWhole }: RawLine) => {
  const parsed = isTooLong || !isWhole ? undefined : parseLine(bytes);
  return parsed?.seq;
};

/**
 * Says what happened to a line that is not the expected one. Reads on in `rest`, at most 4096 lines.
 *
 * `expected` is undefined where the line should begin a log of which nothing is known.
 */
export const classifyLine = async (
  line: RawLine,
  expected: number | undefined,
  rest: AsyncIterator<RawLine>,
): Promise<AuditProblemKind> => {
  const seq = look(line);
  if (seq !== undefined && expected !== undefined && seq < expected) return "inserted";
  for (let count = 0; count < lookahead; count++) {
    const next = await rest.next();
    if (next.done === true) break;
    const later = look(next.value);
    if (later === undefined) continue;
    const isExpected =
      expected === undefined ? openingOf(next.value.bytes) !== undefined : later === expected;
    // A wrong line with the right one behind it was put there.
    if (isExpected) return seq === undefined || seq === expected ? "inserted" : "reordered";
    if (seq === undefined) break;
  }
  return seq === undefined || seq === expected ? "changed" : "removed";
};
