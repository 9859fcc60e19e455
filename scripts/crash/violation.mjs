/** A promise of the server that was broken. */
export class Violation extends Error {
  name = "Violation";
}

/** Throws a {@link Violation} unless the condition holds. */
export function must(condition, text) {
  if (!condition) throw new Violation(text);
}
