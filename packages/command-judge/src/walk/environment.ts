import { hasMark } from "../marks.ts";
import type { Scope } from "./scope.ts";
import type { Walk } from "./walk.ts";

/** Variables that no program takes a command, a path or code from. Their values are plain words. */
const harmless =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|CI|NODE_ENV|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT|DEBIAN_FRONTEND|HUSKY|TIMEFORMAT|BLOCKSIZE)$/;

/** Variables of which the value is a command. */
const commands =
  /^(?:.*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS)|GIT_\w+|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|PS[0-4]|RUSTC_WRAPPER|CC|CXX|SHELL)$/;

/** Names of variables that only the shell script itself uses, unless they were exported before. */
const local = /^(?!(?:https?|ftp|all|no)_proxy$|npm_|_$)[a-z_][a-z0-9_]*$/;

/**
 * Judges an assignment. `isExported` says that a program sees it. A name that is not in the table is unknown: it may be the
 * place from which a program takes code.
 */
export const noteAssignment = (
  walk: Walk,
  name: string,
  value: string,
  isExported: boolean,
  scope: Scope,
): void => {
  if (harmless.test(name) && /^[\w.@:,+-]*$/.test(value) && !hasMark(value)) return;
  if (local.test(name) && !isExported) return;
  walk.unknown("unknown-assignment", `it sets ${name}, from which a program may take what it runs`);
  if (commands.test(name)) walk.suspect(() => walk.script(value, scope.fresh(), undefined));
};
