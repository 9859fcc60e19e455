/** The longest request that is acted upon, in UTF-16 code units. A longer one is declined, not cut. */
export const maxRequestChars = 65_536;

/** The most parts of one request that are carried out. */
export const maxInstructions = 20;

/** The most text of one tool result that is looked at, in UTF-16 code units. */
export const maxResultChars = 262_144;

/** The most entries of a list in a tool result that are looked at. */
export const maxResultItems = 20_000;

/** The longest final answer, in UTF-16 code units. */
export const maxReplyChars = 16_000;
