import { findSecrets } from "@harnesskit/audit";
import { Findings } from "./findings.ts";
import type { CommandJudgement } from "./judgement.ts";
import { maxTextLength } from "./limits.ts";
import { hasMark } from "./marks.ts";
import { type JudgedPlaces, toDirectory, toPathPlaces } from "./places.ts";
import { Scope } from "./walk/scope.ts";
import { Walk } from "./walk/walk.ts";

const noteSecretsIn = (command: string, findings: Findings): void => {
  if (!findSecrets(command).some(({ certain }) => certain)) return;
  findings.secrets = true;
  findings.report("write", "secret-in-text", "the text of the command holds a secret");
};

/**
 * Says what a shell command would do, without running it. Takes the command as bash reads it, and where it would run.
 * `read` means that every program, option, word and assignment in it is in a table as harmless; whatever is not known
 * makes the verdict at least `unknown`. Never throws, and never touches the file system: links, scripts and settings of
 * programs are not looked at. Bounded by 32,768 UTF-16 units, 32 levels of nesting and 20,000 steps; what exceeds them is
 * `unknown`.
 */
export const judgeCommand = (command: string, options: JudgedPlaces): CommandJudgement => {
  const findings = new Findings(toPathPlaces(options));
  if (command.length > maxTextLength) {
    findings.report("unknown", "too-large", `it is longer than ${maxTextLength} characters`);
    return findings.judgement();
  }
  if (hasMark(command) || command.includes("\0") || /\r(?!\n)/.test(command))
    findings.report("unknown", "syntax-error", "it holds control or private characters");
  const directory = toDirectory(options);
  const { workspace } = toPathPlaces(options);
  const scope = new Scope(directory === undefined ? undefined : [directory]);
  try {
    noteSecretsIn(command, findings);
    new Walk(findings, options.lists ?? {}, workspace).script(command, scope, undefined);
  } catch {
    // Whatever stops the walk, such as a stack that is too small for the parser, must not let a command pass.
    findings.report("unknown", "too-deep", "it is nested too deeply to be judged");
  }
  // A command that names no path works where it starts.
  findings.path(".", "list", scope.start);
  return findings.judgement();
};
