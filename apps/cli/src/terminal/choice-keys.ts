import { settings } from "@clack/prompts";

/**
 * Lets arrow keys alone move the choice of a question. The prompts' h, j, k and l would move it too, and so a line that was
 * typed for somebody else could be a yes.
 */
export const arrowKeysOnly = (): void => {
  for (const key of ["h", "j", "k", "l"]) settings.aliases.delete(key);
};
