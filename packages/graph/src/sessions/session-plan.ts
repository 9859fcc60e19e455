import { checkNumber, InvalidArgumentError, type Resolved } from "@harnesskit/wire";
import { GraphCompileError } from "../errors.ts";
import { checkSessionOptions } from "../option-names.ts";
import type { StateSchema } from "../state/schema.ts";
import { createMigrationTable, type MigrationTable } from "./migrations.ts";
import type { SessionOptions } from "./session-options.ts";

/** How the sessions of a graph are kept: the options with their defaults. */
export interface SessionPlan extends Omit<Resolved<SessionOptions>, "fields" | "migrations"> {
  /** The fields that belong to a session, with the names that they are stored under. */
  readonly fields: readonly (readonly [field: string, stored: string])[];
  readonly migrations: MigrationTable;
}

const sessionFields = (
  schema: StateSchema,
  fields: SessionOptions["fields"],
): (readonly [string, string])[] => {
  if (fields === undefined || fields === "all")
    return [...schema.specs.keys()].map((name) => [name, name] as const);
  const pairs = Array.isArray(fields)
    ? fields.map((name: string) => [name, name] as const)
    : Object.entries(fields as Record<string, string>).filter(([, stored]) => stored !== undefined);
  const unknown = pairs.find(([field]) => !schema.specs.has(field));
  if (unknown !== undefined) {
    throw new GraphCompileError(
      "mapping_references_undeclared_field",
      `the session refers to ${unknown[0]}, which the state does not declare`,
    );
  }
  if (new Set(pairs.map(([, stored]) => stored)).size !== pairs.length) {
    throw new InvalidArgumentError("two fields of a session are stored under one name");
  }
  return pairs;
};

const durationOf = (name: string, value: number, min: number): number =>
  checkNumber(name, value, { min, max: Number.MAX_VALUE, allowFraction: true });

/** Throws a {@link GraphCompileError}, or `invalid_argument` for an option that is not valid. */
export const planSessions = (schema: StateSchema, options: SessionOptions = {}): SessionPlan => {
  checkSessionOptions(options);
  return {
    fields: sessionFields(schema, options.fields),
    schemaVersion: options.schemaVersion ?? "",
    migrations: createMigrationTable(options.migrations ?? []),
    autoSave: options.autoSave ?? true,
    concurrency: options.concurrency ?? "last-write-wins",
    leaseTtlMs: durationOf("leaseTtlMs", options.leaseTtlMs ?? 30_000, 1),
    leaseWaitMs: durationOf("leaseWaitMs", options.leaseWaitMs ?? 60_000, 0),
  };
};
