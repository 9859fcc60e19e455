import type { ShellLists } from "./call.ts";
import { Findings } from "./findings.ts";
import { Interpreter } from "./interpreter.ts";
import { maxTextLength } from "./limits.ts";
import { LruMap } from "./lru-map.ts";
import { noteSecretsIn } from "./note-secrets.ts";
import { normalPath, type PathPlaces } from "./resolve-path.ts";
import { ShellState } from "./shell-state.ts";
import type { ShellJudgement } from "./verdict.ts";

/** Judgements that are kept. */
const maxCached = 1024;
/** UTF-16 units of commands that are kept with their judgements, all together. */
const maxCachedLength = 2_097_152;

export interface JudgeCommandOptions {
  /** Absolute path of the folder in which the agent works. */
  readonly workspace: string;
  /** Absolute path of the folder in which the command starts. @default workspace */
  readonly directory?: string;
  /** Absolute path of the home folder; without it, `~` stands for itself and is outside. @default undefined */
  readonly home?: string;
  /** What is known besides. One object that is used again is cached; it is not to be changed. @default {} */
  readonly lists?: ShellLists;
}

const noLists: ShellLists = {};
const cache = new LruMap<string, ShellJudgement>(maxCached, maxCachedLength);
const numbers = new WeakMap<ShellLists, number>();
let lastNumber = 0;

const numberOf = (lists: ShellLists): number => {
  const known = numbers.get(lists);
  if (known !== undefined) return known;
  numbers.set(lists, ++lastNumber);
  return lastNumber;
};

const freeze = (judgement: ShellJudgement): ShellJudgement => {
  for (const list of [judgement.reasons, judgement.paths, judgement.programs]) Object.freeze(list);
  return Object.freeze(judgement);
};

const judge = (command: string, options: JudgeCommandOptions, lists: ShellLists): ShellJudgement => {
  const places: PathPlaces = {
    workspace: normalPath(options.workspace),
    home: options.home === undefined ? undefined : normalPath(options.home),
    allowed: (lists.allowedPaths ?? []).map(normalPath),
    secret: lists.secretPaths ?? [],
  };
  const findings = new Findings(places);
  if (command.length > maxTextLength) {
    findings.report("unknown", "too-large", `it is longer than ${maxTextLength} characters`, undefined);
    return findings.judgement();
  }
  if (command.includes("\0"))
    findings.report("unknown", "syntax-error", "it holds a NUL character", undefined);
  try {
    noteSecretsIn(command, findings);
    const run = new Interpreter(findings, lists, places.home);
    run.judge(command, new ShellState([normalPath(options.directory ?? options.workspace)]));
  } catch {
    // What stops the judge, such as a call stack that is too small for a parse, must not let a command pass.
    findings.report("unknown", "judge-failed", "it could not be judged", undefined);
  }
  return findings.judgement();
};

/**
 * Says what a shell command would do, without running it: whether it only reads, writes, destroys, raises rights, sends
 * data away, or cannot be understood. Takes the command as text for bash and where it would run; never throws and never
 * touches the file system, so symbolic links and the contents of files are not known to it. What is bounded: 32,768
 * UTF-16 units of text, 32 levels of nesting, 20,000 steps; beyond them the verdict is at least `unknown`. Judgements are
 * frozen and the last 1024 are kept.
 */
export const judgeCommand = (command: string, options: JudgeCommandOptions): ShellJudgement => {
  const lists = options.lists ?? noLists;
  const key = JSON.stringify([options.workspace, options.directory, options.home, numberOf(lists), command]);
  if (command.length > maxTextLength) return freeze(judge(command, options, lists));
  const known = cache.get(key);
  if (known !== undefined) return known;
  const judgement = freeze(judge(command, options, lists));
  cache.set(key, judgement, key.length);
  return judgement;
};
