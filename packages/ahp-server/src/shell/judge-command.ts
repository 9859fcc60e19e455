import type { ShellLists } from "./call.ts";
import { Findings } from "./findings.ts";
import { Interpreter } from "./interpreter.ts";
import { type JudgedPlaces, toDirectory, toPathPlaces } from "./judged-places.ts";
import { maxTextLength } from "./limits.ts";
import { LruMap } from "./lru-map.ts";
import { noteSecretsIn } from "./note-secrets.ts";
import { ShellState } from "./shell-state.ts";
import type { ShellJudgement } from "./verdict.ts";

/** Judgements that are kept. */
const maxCached = 1024;
/** UTF-16 units of commands and of the texts of their judgements that are kept, all together. */
const maxCachedLength = 8_388_608;

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

const sizeOf = ({ reasons, paths, programs }: ShellJudgement): number => {
  let size = 0;
  for (const { text } of reasons) size += text.length;
  for (const { path } of paths) size += path.length;
  for (const program of programs) size += program.length;
  return size;
};

const judge = (command: string, options: JudgedPlaces, lists: ShellLists): ShellJudgement => {
  const places = toPathPlaces(options);
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
    const directory = toDirectory(options);
    run.judge(command, new ShellState(directory === undefined ? undefined : [directory]));
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
export const judgeCommand = (command: string, options: JudgedPlaces): ShellJudgement => {
  const lists = options.lists ?? noLists;
  const key = JSON.stringify([options.workspace, options.directory, options.home, numberOf(lists), command]);
  if (command.length > maxTextLength) return freeze(judge(command, options, lists));
  const known = cache.get(key);
  if (known !== undefined) return known;
  const judgement = freeze(judge(command, options, lists));
  cache.set(key, judgement, key.length + sizeOf(judgement));
  return judgement;
};
