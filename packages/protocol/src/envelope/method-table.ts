import type * as z from "zod";

/** One method of a protocol: what it takes and what it answers. */
export interface MethodDefinition {
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}

/** The requests of a protocol, by method name. */
export type MethodTable = Readonly<Record<string, MethodDefinition>>;

/** The notifications of a protocol, by name, with the schema of their parameters. */
export type NotificationTable = Readonly<Record<string, z.ZodType>>;
