import { codeShapes } from "../languages/code-shapes.ts";
import { isPlainCode } from "../languages/plain-code.ts";
import { hasMark, unknownMark } from "../marks.ts";
import { isSecretPath } from "../paths/secret-paths.ts";
import type { Parsed } from "./parse-arguments.ts";
import { isOpenInput } from "./reads-commands.ts";
import { type Call, type Family, noteEffect, type Spec } from "./spec.ts";
import { suspectArguments } from "./suspect-arguments.ts";

/** A file of a shell, or text on the input of one. */
const shell = (call: Call, parsed: Parsed): string | undefined => {
  const { walk, scope, name, stdin } = call;
  const [first, ...rest] = parsed.operands;
  // Other shells read some of the syntax in another way.
  const text = parsed.has("-c") ? (first ?? "") : (stdin ?? "");
  if (parsed.has("-i") && isOpenInput(stdin)) walk.readsCommands(name);
  if (!/^bash$/.test(name) && (/\$['"]|\(\(|\\\n/.test(text) || /^(?:zsh|fish|ksh)$/.test(name)))
    walk.unknown("other-shell", `${name} may read its text in another way than bash`);
  if (parsed.has("-c")) {
    if (first === undefined) walk.unknown("unknown-script", `the policy cannot tell what ${name} runs`);
    else if (rest.length > 0 && /\$(?:[0-9@*#]|\{[0-9@*#!])/.test(first)) {
      walk.unknown("unknown-script", "a shell script runs its arguments");
      suspectArguments(call);
      walk.suspect(() => walk.run(rest.slice(1), scope, undefined));
      walk.script(first, scope.fresh(), stdin);
    } else return walk.script(first, scope.fresh(), stdin);
  }
  if (first !== undefined && !parsed.has("-s")) {
    walk.list(first, scope);
    walk.unknown("unknown-script", `${name} runs ${first}, a file whose content is not checked`);
  }
  if (stdin !== undefined && !hasMark(stdin)) return walk.script(stdin, scope.fresh(), undefined);
  if (first === undefined || parsed.has("-s")) walk.readsCommands(name);
  walk.unknown("unknown-script", `the policy cannot tell what ${name} runs`);
  if (stdin !== undefined) walk.suspect(() => walk.script(stdin, scope.fresh(), undefined));
};

/** Code that stands in the command. */
const judgeCode = (call: Call, code: string): void => {
  const { walk, name, scope } = call;
  if (hasMark(code)) walk.unknown("unknown-code", `the code for ${name} is not known in full`);
  for (const [pattern, does] of codeShapes)
    if (pattern.test(code)) noteEffect(walk, does, `the code for ${name}`);
  if (isPlainCode(name, code)) return;
  walk.unknown("unknown-code", `the policy cannot tell what the code for ${name} does`);
  for (const [, , path = ""] of code.matchAll(/(['"`])([^'"`\n]*)\1/g))
    if (isSecretPath(path) && /[./]/.test(path)) walk.read(path, scope);
  suspectArguments({ ...call, args: [code] });
};

/** An interpreter: code in an option, or a file, or its input. */
const interpreter =
  (codeOptions: readonly string[], shows: readonly string[] = ["-v", "-V", "--version", "-h", "--help"]) =>
  (call: Call, parsed: Parsed): void => {
    const { walk, scope, name, stdin } = call;
    const code = parsed.values(...codeOptions);
    for (const each of code) judgeCode(call, each);
    // They go on with their input; to others it edits files.
    if (/^(?:python|pypy|node)/.test(name) && parsed.has("-i", "--interactive") && isOpenInput(stdin))
      walk.readsCommands(name);
    // To perl, `x|` is a program whose output is read, and `>x` a file that is written; a pattern may stand for such a name.
    if (name === "perl" && !parsed.operands.every((each) => /^[\w./@:,-]+$/.test(each)))
      walk.unknown("runs-code", "perl may run or write what is not the name of a file");
    // Perl and ruby run the code for each line of the files; for others these are arguments of the code.
    if (code.length > 0) {
      for (const path of parsed.operands) {
        walk.read(path, scope);
        if (parsed.has("-i")) walk.write(path, scope);
      }
      return;
    }
    // Ruby shows its version and then runs the file.
    if (parsed.has(...shows) && parsed.operands.length === 0) return;
    const [file] = parsed.operands;
    if (file !== undefined)
      walk.unknown("runs-file", `${name} runs ${file}, a file whose content is not checked`);
    else if (stdin !== undefined && !hasMark(stdin)) judgeCode(call, stdin);
    else {
      walk.readsCommands(name);
      walk.unknown("unknown-code", `the policy cannot tell what ${name} runs`);
    }
  };

const python = (call: Call, parsed: Parsed): void => {
  const [module] = parsed.values("-m");
  if (module === undefined) {
    if (parsed.has("-c") && !parsed.has("-I", "-P"))
      call.walk.unknown(
        "runs-module",
        "python may import a file of the workspace; with the option -I it does not",
      );
    // With -v it shows what it imports, and runs the code.
    interpreter(["-c"], ["-V", "--version"])(call, parsed);
    return;
  }
  // The folder in which it starts is the first in which it looks for modules.
  call.walk.unknown("runs-module", `python runs the module ${module}, which may be a file of the workspace`);
  if (/^http\.server/.test(module))
    call.walk.report("exfiltration", "serves-files", "python shows files to other machines");
};

/** `-p` prints the result of the code of `-e`, or is followed by code; options behind that code are options of node. */
const node = (call: Call, parsed: Parsed): void => {
  if (!parsed.has("-p", "--print") || parsed.has("-e", "--eval")) {
    interpreter(["-e", "--eval"])(call, parsed);
    return;
  }
  const [code = unknownMark, ...rest] = parsed.operands;
  if (rest.some((each) => each.startsWith("-")))
    call.walk.unknown(
      "unknown-option",
      "the policy cannot tell what the options behind the code for node do",
    );
  judgeCode(call, code);
};

const codeFirst = (options: string, codeOptions: readonly string[]): Spec => ({
  style: "posix",
  usage: `${options} text...`,
  judge: interpreter(codeOptions),
});

/** Interpreters of shells and of other languages. */
export const interpreters: Family = {
  "sh bash zsh dash ksh ash fish": {
    style: "posix",
    usage:
      "-[cefiulsxrnvp] -l --login --norc --noprofile --posix --version --rcfile=unknown --init-file=unknown -o=text -O=unknown text...",
    prints: shell,
  },
  "python python2 python3 pypy pypy3": {
    style: "posix",
    usage: "-[BEsSuIPOqViv] -c=text -m=text -W=text -X=unknown --version text...",
    judge: python,
  },
  "node nodejs": {
    ...codeFirst(
      "-[vhpi] --interactive -e=text --eval=text --print --version --no-warnings --no-deprecation --check",
      [],
    ),
    judge: node,
  },
  "deno bunjs": "=> unknown runs-file runs code",
  perl: codeFirst("-[wnplavsW] -e=text -E=text -i?=text!write -F?=text -0?=number -V --version", [
    "-e",
    "-E",
  ]),
  ruby: codeFirst("-[wnplavs] -e=text -i?=text!write -F?=text --version", ["-e"]),
  php: codeFirst("-[nv] -r=text --version", ["-r"]),
  "lua luajit Rscript R julia osascript scala groovy ghci erl elixir iex irb pry ipython ocaml racket sbcl tclsh expect pwsh powershell java kotlin":
    "=> unknown runs-file runs code",
};
