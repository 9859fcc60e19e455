import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { GraphCompileError, GraphError, thrownMessage } from "../errors.ts";
import type { Migration } from "./session-options.ts";

/** The registered migrations, by the version that they begin with. */
export type MigrationTable = ReadonlyMap<string, readonly Migration[]>;

const quoteVersion = (version: string): string => (version === "" ? "no version" : JSON.stringify(version));

const named = ({ from, to }: Pick<Migration, "from" | "to">): string =>
  `${quoteVersion(from)} to ${quoteVersion(to)}`;

/** Throws `session_state_migration_chain_ambiguous` for two migrations of the same pair. */
export const createMigrationTable = (migrations: readonly Migration[]): MigrationTable => {
  const table = new Map<string, Migration[]>();
  for (const migration of migrations) {
    const { from, to } = migration;
    const known = table.get(from) ?? [];
    if (known.some((other) => other.to === to)) {
      const message = `two migrations lead from ${named(migration)}`;
      const data = { from_version: from, to_version: to };
      throw new GraphCompileError("session_state_migration_chain_ambiguous", message, { data });
    }
    table.set(from, [...known, migration]);
  }
  return table;
};

/** The shortest chain between two versions, found breadth first. Throws for no chain, and for more than one. */
const findChain = (table: MigrationTable, from: string, to: string): readonly Migration[] => {
  const all = [...table.values()].flat();
  const described = all.map(named).join(", ") || "none";
  const data = {
    from_version: from,
    to_version: to,
    registered_migrations_count: all.length,
    registry_description: described,
  };
  let ends = new Map<string, Migration[][]>([[from, [[]]]]);
  const seen = new Set([from]);
  while (ends.size > 0) {
    const found = ends.get(to);
    if (found?.length === 1) return found[0] as Migration[];
    if (found !== undefined) {
      const message = `several shortest chains lead from ${named({ from, to })}`;
      throw new GraphError("session_state_migration_chain_ambiguous", message, { data });
    }
    const next = new Map<string, Migration[][]>();
    for (const [version, chains] of ends) {
      for (const step of table.get(version) ?? []) {
        if (seen.has(step.to)) continue;
        const known = next.get(step.to) ?? [];
        // Two are enough to know that there are several.
        next.set(step.to, [...known, ...chains.map((chain) => [...chain, step])].slice(0, 2));
      }
    }
    for (const version of next.keys()) seen.add(version);
    ends = next;
  }
  const message = `no migration leads from ${named({ from, to })} (registered: ${described})`;
  throw new GraphError("session_state_migration_missing", message, { data });
};

/** The fields in another version. Rejects with one of the three errors of migrations. */
export const migrateState = async (
  table: MigrationTable,
  state: JsonObject,
  from: string,
  to: string,
): Promise<JsonObject> => {
  let fields = state;
  for (const step of findChain(table, from, to)) {
    const failed = (why: string, cause?: unknown) =>
      new GraphError("session_state_migration_failed", `the migration from ${named(step)} ${why}`, {
        cause,
        data: { from_version: step.from, to_version: step.to },
      });
    try {
      fields = await step.migrate(fields);
    } catch (cause) {
      throw failed(`threw: ${thrownMessage(cause)}`, cause);
    }
    if (!isObject(fields)) throw failed("returned a value that is not an object");
  }
  return fields;
};
