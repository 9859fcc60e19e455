/** UTF-16 units of a command, and of any shell text inside it. */
export const maxTextLength = 32_768;
/** Shell texts, substitutions and wrapped programs inside each other. */
export const maxNesting = 32;
/** Syntax nodes and programs that are looked at for one command. */
export const maxSteps = 20_000;
/** Words that braces of one word make. */
export const maxFields = 256;
/** Words of a `for` loop that are followed one by one. */
export const maxUnrolled = 16;
/** Working directories that are followed side by side. */
export const maxDirectories = 8;
/** Reasons, paths and programs that one judgement lists. */
export const maxListed = 128;
