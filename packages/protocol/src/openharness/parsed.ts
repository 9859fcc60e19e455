import type * as z from "zod";

/** What a value was parsed to, or the place of the first problem, as `request.context`. */
export type Parsed<T> = { readonly data: T } | { readonly path: string };

/** @internal An own field of a message that is not checked yet. */
export const ownField = (message: unknown, name: string): unknown =>
  typeof message === "object" && message !== null && Object.hasOwn(message, name)
    ? (message as Record<string, unknown>)[name]
    : undefined;

/** @internal Parses a value. Never throws for JSON. */
export const parseWith = <T extends z.ZodType>(schema: T, value: unknown): Parsed<z.output<T>> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data };
  return { path: parsed.error.issues[0]?.path.map(String).join(".") ?? "" };
};
