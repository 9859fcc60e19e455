import { hasMark, mayBeOption, unknownMark } from "../marks.ts";
import { noteAssignment } from "../walk/environment.ts";
import type { Call, Family } from "./spec.ts";

/** What `echo` and `printf` print, where that is known without following escapes and formats. */
const echo = ({ args }: Call): string | undefined => {
  const words = args[0] === "-n" ? args.slice(1) : args;
  const text = words.join(" ");
  if (/^-/.test(words[0] ?? "") || text.includes("\\")) return undefined;
  return args[0] === "-n" ? text : `${text}\n`;
};

const printf = ({ args, walk }: Call): string | undefined => {
  if ((args[0]?.startsWith("-") === true && args[0] !== "--") || mayBeOption(args[0] ?? ""))
    walk.unknown("unknown-option", `the policy cannot tell what printf ${args[0]} does`);
  const [text = unknownMark, value = ""] = args;
  if (/^%s(?:\\n)?$/.test(text) && args.length === 2) return value;
  return args.length === 1 && !/[%\\]/.test(text) ? text : undefined;
};

/** `export`, `declare` and their like: names, or assignments without anything that is evaluated again. */
const declareVariables = (call: Call): void => {
  const { args, walk, scope, name } = call;
  const words = args.filter((arg) => !arg.startsWith("-"));
  if (words.length === 0) {
    if (!args.includes("-f") && !args.includes("-F"))
      walk.secret("reads-environment", `${name} prints variables, which may hold secrets`);
    return;
  }
  for (const word of words) {
    const [variable = ""] = word.split("=");
    if (/[([$`]/.test(word) || !/^\w+\+?$/.test(variable) || hasMark(variable))
      walk.unknown("hidden-expression", `${name} ${word} may be evaluated again, and run a command`);
    const isExported = name === "export" || args.some((arg) => /^-\w*x/.test(arg));
    noteAssignment(walk, variable, word.slice(variable.length + 1), isExported, scope);
  }
};

/** Builtins that set variables whose names are their operands. */
const setter =
  (skip: number) =>
  ({ args, walk, scope, name }: Call): void => {
    const words = args.filter((arg) => !arg.startsWith("-"));
    for (const word of words.slice(skip)) {
      if (!/^\w+$/.test(word))
        walk.unknown("hidden-expression", `${name} ${word} may be evaluated again, and run a command`);
      else noteAssignment(walk, word, unknownMark, false, scope);
    }
  };

const cd = ({ args, walk, scope }: Call): void => {
  const words = args.filter((arg) => !/^-[LPe@]$|^--$/.test(arg));
  const [path = "~"] = words;
  if (words.length > 1 || /^-|^[+-]\d/.test(path) || hasMark(path)) {
    walk.unknown("unknown-path", "the policy cannot tell where cd leads");
    scope.directories = undefined;
    return;
  }
  walk.list(path, scope);
  scope.directories = scope.arrival(path);
};

const shellText = ({ args, walk, scope, name }: Call): void => {
  walk.unknown("shell-text", `${name} evaluates a string as shell code`);
  walk.script(args.join(" "), scope.fresh(), undefined);
};

const trap = ({ args, walk, scope }: Call): void => {
  const [text = "-", ...signals] = args.filter((arg) => arg !== "--");
  for (const signal of signals)
    if (!/^[A-Z0-9+]+$/.test(signal))
      walk.unknown("unknown-word", `the policy cannot tell what trap ${signal} means`);
  if (text === "-" || text === "-l" || text === "-p" || (signals.length === 0 && /^\w+$/.test(text))) return;
  walk.unknown("shell-text", "trap makes the shell run commands later");
  walk.script(text, scope.fresh(), undefined);
};

const alias = ({ args, walk, scope }: Call): void => {
  for (const arg of args) {
    if (/^\w+$/.test(arg)) continue;
    walk.unknown("shell-text", `an alias changes what a name means: ${arg}`);
    walk.script(arg.slice(arg.indexOf("=") + 1), scope.fresh(), undefined);
  }
};

/** `set -euo pipefail` and what else changes nothing but how errors end a script. */
const set = ({ args, walk }: Call): void => {
  if (args.length === 0) walk.secret("reads-environment", "set prints variables, which may hold secrets");
  args.forEach((arg, index) => {
    const isName = /^[+-]\w*o$/.test(args[index - 1] ?? "");
    const isKnown = isName
      ? /^(?:pipefail|errexit|nounset|noglob|noclobber)$/.test(arg)
      : /^[+-][eufCo]+$/.test(arg);
    if (!isKnown) walk.unknown("unknown-option", `the policy cannot tell what set ${arg} changes`);
  });
};

/** Builtins of the shell. */
export const builtins: Family = {
  echo: { style: "words", prints: echo },
  printf: { style: "words", prints: printf },
  "true false :": { style: "words" },
  "exit return break continue shift": "number",
  sleep: "number...",
  pwd: "-[LP]",
  "wait times jobs": "-[lnprs] text...",
  history: "number",
  dirs: "-[clpv]",
  type: { usage: "-[afptP] text...", anyOption: true },
  "hash help": "",
  unalias: "-a text... => unknown shell-text changes what names mean",
  ulimit: "-[a]",
  umask: "-[Sp]",
  cd: { style: "words", judge: cd },
  "pushd popd": {
    style: "words",
    judge: (call) => {
      cd(call);
      call.scope.directories = undefined;
    },
  },
  "export declare typeset local readonly": {
    usage: "-[axrpgfF] text...",
    judge: declareVariables,
  },
  unset: { usage: "-v text...", judge: setter(0) },
  read: {
    usage: "-[rse] -n=number -N=number -t=number -u=number -p=text -d=text text...",
    judge: setter(0),
  },
  "mapfile readarray": { usage: "-t -d=text -n=number -s=number text...", judge: setter(0) },
  getopts: { usage: "text...", judge: setter(1) },
  set: { style: "words", judge: set },
  shopt: "=> unknown shell-option changes how the shell reads commands",
  let: { style: "words", usage: "unknown..." },
  eval: { style: "words", judge: shellText },
  "source .": {
    style: "words",
    usage: "read text...",
    does: "unknown unknown-script runs a file whose content is not checked",
  },
  trap: { style: "words", judge: trap },
  alias: { style: "words", judge: alias },
  "complete compgen bind enable caller disown bg fg suspend logout fc":
    "=> unknown shell-option changes how the shell works",
};
