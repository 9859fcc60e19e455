import { builtinPrograms } from "./builtins.ts";
import { containerPrograms } from "./containers.ts";
import { databasePrograms } from "./databases.ts";
import { developerPrograms } from "./developer-tools.ts";
import { filterPrograms } from "./filters.ts";
import { findPrograms } from "./find.ts";
import { gitPrograms } from "./git.ts";
import { interpreterPrograms } from "./interpreters.ts";
import { networkPrograms } from "./network.ts";
import { packagePrograms } from "./package-managers.ts";
import { privilegePrograms } from "./privilege.ts";
import type { ProgramEntry } from "./program-entry.ts";
import { readerPrograms } from "./readers.ts";
import { remotePrograms } from "./remote.ts";
import { shellPrograms } from "./shells.ts";
import { systemPrograms } from "./system.ts";
import { textPrograms } from "./text-tools.ts";
import { wrapperPrograms } from "./wrappers.ts";
import { writerPrograms } from "./writers.ts";

const table = new Map<string, ProgramEntry>([
  ...readerPrograms,
  ...filterPrograms,
  ...writerPrograms,
  ...findPrograms,
  ...textPrograms,
  ...systemPrograms,
  ...wrapperPrograms,
  ...shellPrograms,
  ...builtinPrograms,
  ...interpreterPrograms,
  ...networkPrograms,
  ...remotePrograms,
  ...privilegePrograms,
  ...gitPrograms,
  ...packagePrograms,
  ...developerPrograms,
  ...containerPrograms,
  ...databasePrograms,
]);

/** What is known of a program by its bare name. */
export const findProgram = (name: string): ProgramEntry | undefined => table.get(name);

/** All names that are known. */
export const programNames = (): readonly string[] => [...table.keys()];
