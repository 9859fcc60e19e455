import type { Call, Program } from "../call.ts";
import { judgeCode } from "../judge-code.ts";
import { isExact, shown, taintOf } from "../marks.ts";
import { entries } from "./program-entry.ts";
import { writtenContents } from "./written-contents.ts";

interface Interpreter {
  /** Options whose value is code; letters may stand at the end of a bundle. */
  readonly code: RegExp;
  /** Options that take another value. */
  readonly valued: RegExp;
  /** Options that change nothing of what is run. @default none */
  readonly harmless?: RegExp;
  /** Options that load a file before anything else. */
  readonly loads?: RegExp;
  readonly module?: (call: Call, module: string, args: readonly string[]) => void;
}

const pythonModule = (call: Call, module: string, args: readonly string[]): void => {
  const { run, state, stdin } = call;
  if (
    module === "pip" ||
    module === "pytest" ||
    module === "ruff" ||
    module === "black" ||
    module === "mypy"
  ) {
    run.exec([module, ...args], state, stdin);
  } else if (/^(?:json\.tool|this|platform|sysconfig|site|calendar|tokenize|ast|dis)$/.test(module)) {
    const [first, second] = args.filter((arg) => !arg.startsWith("-"));
    if (first !== undefined) run.read(first, state);
    if (module === "json.tool" && second !== undefined) run.write(second, state);
  } else if (/^(?:http\.server|smtpd|pydoc|SimpleHTTPServer|uploadserver)$/.test(module)) {
    run.noteNetwork();
    run.report("exfiltration", "serves-files", `python -m ${module} shows files to other machines`);
  } else if (
    /^(?:venv|virtualenv|compileall|py_compile|unittest|build|zipfile|tarfile|ensurepip)$/.test(module)
  ) {
    run.report("write", "changes-files", `python -m ${module} runs code or makes files`);
  } else run.report("unknown", "runs-file", `python -m ${module} runs a module that is not known`);
};

const runCode = (call: Call, code: string): void => {
  if (isExact(code)) judgeCode(call, code);
  else {
    call.run.report("unknown", "unknown-script", `${call.name} runs code that is not known in full`);
    judgeCode(call, code);
  }
};

/** A program that takes its code from an option, a file or its input. */
const interpreter =
  (known: Interpreter): Program =>
  (call) => {
    const { run, state, stdin, name } = call;
    let rest = [...call.args];
    let ran = false;
    while (rest.length > 0) {
      const [next = "", ...later] = rest;
      if (!next.startsWith("-") || next === "-") break;
      rest = later;
      if (next === "--") break;
      const inline = known.code.exec(next);
      if (known.module !== undefined && /^-[a-zA-Z]*m/.test(next) && !/^-m./.test(next)) {
        known.module(call, rest[0] ?? "", rest.slice(1));
        return taintOf(stdin);
      }
      if (known.module !== undefined && /^-m./.test(next)) {
        known.module(call, next.slice(2), rest);
        return taintOf(stdin);
      }
      if (inline !== null) {
        const joined = inline[1] ?? "";
        runCode(call, joined === "" ? (rest.shift() ?? "") : joined);
        ran = true;
      } else if (known.loads?.test(next) === true) {
        const value = next.includes("=") ? "" : (rest.shift() ?? "");
        run.report("unknown", "loads-code", `${name} loads ${value === "" ? "a file" : value} first`);
      } else if (known.valued.test(next)) rest.shift();
      else if (/^(?:--version|--help|-V|-h|-v|-VV)$/.test(next) && call.args.length === 1) return undefined;
      else if (known.harmless?.test(next) !== true)
        run.report("unknown", "unknown-arguments", `${name} is given ${shown(next)}`);
    }
    if (ran) {
      // What perl and ruby read line by line; a name with one of these is a command or is written.
      if (name === "perl" || name === "ruby" || name === "jruby")
        for (const path of rest) {
          run.read(path, state);
          if (/^\s*[>|+]|\|\s*$/.test(path))
            run.report("unknown", "unknown-script", `${name} may run or write ${shown(path)}`);
        }
      return taintOf(stdin, ...call.args);
    }
    const [file] = rest;
    if (file !== undefined && file !== "-" && file !== "/dev/stdin") {
      run.read(file, state);
      const contents = writtenContents(file, state);
      for (const content of contents) runCode(call, content);
      if (contents.length === 0)
        run.report("unknown", "runs-file", `${name} runs a file whose content is not known`);
    } else if (stdin === undefined)
      run.report("unknown", "interactive", `${name} waits for code that is not known`);
    else runCode(call, stdin);
    return taintOf(stdin);
  };

/** Compilers and runners of files: what they run is not known. */
const runsFile: Program = ({ args, run, state, name }) => {
  if (args.length === 1 && /^-+(?:v|V|version|help|h)$/.test(args[0] ?? "")) return undefined;
  for (const arg of args) if (/\.\w+$/.test(arg) && !arg.startsWith("-")) run.read(arg, state);
  run.report("unknown", "runs-file", `${name} runs code that is not known`);
  return undefined;
};

export const interpreterPrograms = [
  ...entries(
    "python pypy ipython",
    interpreter({
      code: /^-[bBdEhiIOqsSuvx]*c([\s\S]*)$/,
      valued: /^-[WX]$/,
      harmless: /^-(?:[bBdEhIOqsSuvx]+|[WX].+)$/,
      module: pythonModule,
    }),
  ),
  ...entries(
    "node nodejs bun deno electron tsx ts-node",
    interpreter({
      code: /^(?:-[icp]*[ep]+|--eval|--print|-pe)=?([\s\S]*)$/,
      valued: /^(?:-C|--conditions|--input-type|--test-name-pattern)$/,
      harmless:
        /^--(?:no-warnings|no-deprecation|input-type=.*|conditions=.*|trace-\w+|stack-trace-limit=\d+|max-old-space-size=\d+)$/,
      loads: /^(?:-r|--require|--import|--loader|--experimental-loader)(?:=|$)/,
    }),
  ),
  ...entries(
    "perl",
    interpreter({
      code: /^-[a-zA-Z0-9]*?[eE]([\s\S]*)$/,
      valued: /^-[IF]$/,
      loads: /^-[mM]./,
      harmless: /^-(?:[npalwW0-9]*(?:i.*)?|F.+)$/,
    }),
  ),
  ...entries(
    "ruby jruby",
    interpreter({
      code: /^-[a-zA-Z0-9]*?e([\s\S]*)$/,
      valued: /^-[IEF]$/,
      loads: /^-r/,
      harmless: /^-(?:[nplaw]*(?:i.*)?|F.+)$/,
    }),
  ),
  ...entries(
    "php",
    interpreter({ code: /^(?:-[rBRE]|--run)=?([\s\S]*)$/, valued: /^-[z]$/, loads: /^-d?auto_prepend/ }),
  ),
  ...entries("lua luajit", interpreter({ code: /^-e([\s\S]*)$/, valued: /^$/, loads: /^-l/ })),
  ...entries(
    "Rscript osascript elixir groovy scala guile racket sbcl clisp julia",
    interpreter({ code: /^(?:-[eE]|--eval|-l)=?([\s\S]*)$/, valued: /^$/ }),
  ),
  ...entries(
    "tclsh expect wish octave gnuplot java jshell pwsh powershell ghci runghc erl qemu wine",
    runsFile,
  ),
];
