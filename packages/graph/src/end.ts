/** Where a graph ends. A node may be called "END"; this is not it. */
export const END: unique symbol = Symbol("END");
export type End = typeof END;
