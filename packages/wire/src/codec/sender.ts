const sender = Symbol.for("harnesskit.sender");

/**
 * Leaves with `handle` another function that does the same for a transport: what it gives, at once where it can, is sent and seen
 * by nobody else, and so may have its JSON text with it, as `withJsonText` leaves it. Whoever wraps `handle` has a function without
 * it, and may change what `handle` gave. Changes `handle`, and gives it back.
 */
export const withSender = <Args extends unknown[], Reply>(
  handle: (...args: Args) => Promise<Reply>,
  toSend: (...args: Args) => Reply | Promise<Reply>,
): ((...args: Args) => Promise<Reply>) => Object.defineProperty(handle, sender, { value: toSend });

/** What a transport calls in the place of `handle`, to send what it gives: what was left with it, or itself. */
export const senderOf = <Args extends unknown[], Reply>(
  handle: (...args: Args) => Promise<Reply>,
): ((...args: Args) => Reply | Promise<Reply>) =>
  (handle as { readonly [sender]?: (...args: Args) => Reply | Promise<Reply> })[sender] ?? handle;
