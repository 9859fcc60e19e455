import { usageError } from "./cli-error.ts";

const minLength = 3;
const maxNamed = 5;

/**
 * The id that begins with what the user wrote, with or without its kind (`ses_`). What names none, or is shorter than three characters, is
 * returned as it is: the command says that there is no such thing. Throws a usage error where several begin so.
 */
export const idWithPrefix = (given: string, ids: readonly string[]): string => {
  if (ids.includes(given) || given.length < minLength) return given;
  const found = ids.filter((id) => id.startsWith(given) || id.replace(/^[a-z]+_/, "").startsWith(given));
  if (found.length <= 1) return found[0] ?? given;
  const named = found.slice(0, maxNamed);
  const more = found.length > maxNamed ? `, and ${found.length - maxNamed} more` : "";
  throw usageError(`${found.length} ids begin with ${given}: ${named.join(", ")}${more}`, "Write more of it");
};
