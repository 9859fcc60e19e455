/** UTF-16 units of a command, and of any text that is computed while judging it. */
export const maxTextLength = 32_768;
/** Texts within texts: `sh -c "sh -c …"`, functions, aliases, substitutions. */
export const maxNesting = 32;
/** Syntax nodes, words and nested programs that are looked at for one command. */
export const maxSteps = 20_000;
/** Fields that one word or one list of words may become. */
export const maxFields = 256;
/** Words of a `for` loop that are followed one by one. */
export const maxUnrolled = 32;
/** Working directories that are followed side by side. */
export const maxDirectories = 8;
/** Reasons, paths and programs that one judgement lists. */
export const maxListed = 128;
