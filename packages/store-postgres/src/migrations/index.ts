import { conversations } from "./conversations.ts";
import { threads } from "./threads.ts";
import { timeline } from "./timeline.ts";

/** One step of the schema. */
export interface MigrationStep {
  readonly version: number;
  readonly sql: string;
  /** The oldest version of this package's schema whose programs may go on beside it: its own for a step that breaks them. */
  readonly worksWith: number;
}

/**
 * In order, numbered from 1. A step is never changed once it was published.
 *
 * To add one: write it in a file that says what it adds, and add it here with the next number. In its SQL, `store.` stands for the schema. New tables,
 * indexes and columns with a default or without `NOT NULL` leave older programs alone: `worksWith` stays that of the step before. A
 * step that breaks them names its own version, and older programs are refused from then on. To change a table without stopping anything,
 * take two releases: add the new column and write both in one, and drop the old column in the next. A step runs in one transaction and holds
 * its locks until the end, so fill large tables in batches from the program, not here. A table that grows gets a line in `prune.ts` and one
 * in `schema-stats.ts`; a key that a caller chose is stored through `toTextKey`; JSON is `text`.
 */
export const migrationSteps: readonly MigrationStep[] = [
  { version: 1, sql: conversations + threads + timeline, worksWith: 1 },
];
