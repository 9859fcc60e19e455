import { first } from "./0001-first.ts";
import { runs } from "./0002-runs.ts";

/** One step of the schema. */
export interface MigrationStep {
  readonly version: number;
  readonly sql: string;
  /** The oldest version of this package's schema whose programs may go on beside it: its own for a step that breaks them. */
  readonly worksWith: number;
}

/** In order, numbered from 1. A step is never changed once it was published. */
export const migrationSteps: readonly MigrationStep[] = [
  { version: 1, sql: first, worksWith: 1 },
  { version: 2, sql: runs, worksWith: 1 },
];
