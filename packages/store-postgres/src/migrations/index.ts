import { first } from "./0001-first.ts";
import { questionsAndAnswers } from "./0002-questions-and-answers.ts";
import { runs } from "./0003-runs.ts";
import { timeline } from "./0004-timeline.ts";
import { stateOfRuns } from "./0005-state-of-runs.ts";
import { serversOfRuns } from "./0006-servers-of-runs.ts";
import { sessionsOfTimelines } from "./0007-sessions-of-timelines.ts";
import { wordsOfTimelines } from "./0008-words-of-timelines.ts";

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
 * To add one: write `NNNN-what-it-adds.ts` with the next number, and add it here. In its SQL, `store.` stands for the schema. New tables,
 * indexes and columns with a default or without `NOT NULL` leave older programs alone: `worksWith` stays that of the step before. A
 * step that breaks them names its own version, and older programs are refused from then on. To change a table without stopping anything,
 * take two releases: add the new column and write both in one, and drop the old column in the next. A step runs in one transaction and holds
 * its locks until the end, so fill large tables in batches from the program, not here. A table that grows gets a line in `prune.ts` and one
 * in `schema-stats.ts`; a key that a caller chose is stored through `toTextKey`; JSON is `text`.
 */
export const migrationSteps: readonly MigrationStep[] = [
  { version: 1, sql: first, worksWith: 1 },
  { version: 2, sql: questionsAndAnswers, worksWith: 1 },
  { version: 3, sql: runs, worksWith: 1 },
  { version: 4, sql: timeline, worksWith: 1 },
  { version: 5, sql: stateOfRuns, worksWith: 1 },
  { version: 6, sql: serversOfRuns, worksWith: 1 },
  { version: 7, sql: sessionsOfTimelines, worksWith: 1 },
  { version: 8, sql: wordsOfTimelines, worksWith: 1 },
];
