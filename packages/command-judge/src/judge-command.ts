import { findSecrets } from "@harnesskit/audit";
import type { CommandJudgement } from "./judgement.ts";
import { maxTextLength } from "./limits.ts";
import { hasMark } from "./marks.ts";
import { type JudgedPlaces, toDirectory, toPathPlaces } from "./places.ts";
import { Scope } from "./walk/scope.ts";
import { Walk } from "./walk/walk.ts";

/**
 * Says what a shell command would do, without running it. Takes the command as bash reads it, and where it would run.
 * `read` means that every program, option, word and assignment in it is in a table as harmless; whatever is not known
 * makes the verdict at least `unknown`. Never throws, and looks at the file system only through `realPath`: scripts and
 * settings of programs are not looked at. Bounded by 32,768 UTF-16 units, 32 levels of nesting and 20,000 steps; what exceeds them is
 * `unknown`.
 */
export const judgeCommand = (command: string, options: JudgedPlaces): CommandJudgement => {
  const walk = new Walk(toPathPlaces(options), options.lists ?? {});
  const directory = toDirectory(options);
  const scope = new Scope(directory === undefined ? undefined : [directory]);
  if (command.length > maxTextLength) {
    walk.unknown("too-large", `it is longer than ${maxTextLength} characters`);
    return walk.judgement(scope);
  }
  if (hasMark(command) || command.includes("\0") || /\r(?!\n)/.test(command))
    walk.unknown("syntax-error", "it holds control or private characters");
  try {
    if (findSecrets(command).some(({ certain }) => certain))
      walk.secret("secret-in-text", "the command contains a secret", "write");
    walk.script(command, scope, undefined);
  } catch {
    // Whatever stops the walk, such as a stack that is too small for the parser, must not allow a command.
    walk.unknown("too-deep", "it is nested too deeply to be judged");
  }
  return walk.judgement(scope);
};
