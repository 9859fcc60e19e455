/** Requirements with a check that no mutant of the suite fails: such a check has not shown yet that it notices anything. */
export const weakChecks = {
  // They are about standard input and output, where the mutants are not served.
  "ahp-server": ["AHP-103", "AHP-105"],
  "threads-server": ["THR-2", "THR-58", "THR-59"],
  "threads-client": [],
  "ahp-client": ["AHP-103", "AHP-104"],
  "runtime-agent": [],
  "runtime-core": [],
  "openharness-engine": [],
  "openharness-shell": [],
  chat: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
