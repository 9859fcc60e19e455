import type { Call, Program } from "../call.ts";
import { isSecret, namesMark, secretMark, taintOf } from "../marks.ts";
import { type Options, readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

/** Options that take a value which is no path, for each program that has such. */
const valued: Readonly<Record<string, string>> = {
  ls: "I w T ignore width hide sort time color",
  head: "n c lines bytes",
  tail: "n c s lines bytes pid",
  cut: "d f c b delimiter fields characters bytes",
  du: "d B t exclude max-depth threshold",
  df: "t x B type",
  tree: "L P I o charset filelimit",
  wc: "",
  less: "o O k b h j p P t T x y z log-file lesskey-file lesskey-src",
  sdiff: "o w output",
  scc: "o f output format",
  cloc: "report-file out extract-with",
  xmllint: "o output xpath",
  nm: "plugin",
  stat: "c f format printf",
  file: "F m P e",
  date: "d r f s date set reference file",
  ps: "o u p C U t q sort user pid format",
  column: "t s o c N",
  fold: "w",
  fmt: "w",
  nl: "b f h i l n s v w",
  od: "A j N t w S",
  hexdump: "n s e f C",
  strings: "n t e s",
  diff: "U C I x X L label exclude",
  cmp: "n i",
  comm: "",
  join: "1 2 j t o e a v",
  paste: "d",
  jq: "arg argjson indent f",
  yq: "",
  tsort: "",
  lsof: "p u i c",
  pgrep: "u t P f",
  which: "",
  bat: "l r theme style language line-range",
  batcat: "l r",
  tokei: "",
};

/** Options by which programs that read write a file, run a program or load one. */
const writing: Readonly<Record<string, string>> = {
  less: "o O log-file LOG-FILE",
  sdiff: "o output",
  scc: "o output",
  cloc: "report-file out sum-reports ignored counted",
  xmllint: "o output",
  file: "C compile",
  lsof: "D",
  pr: "",
};
const running: Readonly<Record<string, string>> = {
  bat: "pager",
  batcat: "pager",
  nm: "plugin",
  size: "plugin",
  objdump: "plugin",
  cloc: "extract-with",
  xmllint: "shell",
  less: "k lesskey-file lesskey-src",
};

const noteOptions = (call: Call, options: Options): void => {
  const { run, name, state } = call;
  const given = (list: Readonly<Record<string, string>>): readonly string[] =>
    (list[name] ?? "").split(" ").filter((option) => option !== "" && options.has(option));
  for (const option of given(writing)) {
    const values = options.values(option);
    for (const path of values) run.write(path, state);
    if (values.length === 0) run.report("write", "changes-files", `${name} writes a file`);
  }
  if (given(running).length > 0)
    run.report("unknown", "loads-code", `${name} is given a program to run or to load`);
  if (name === "ldd") run.report("unknown", "runs-file", "ldd may run the file that it is given");
  if (/^(?:identify|ffprobe|xmllint|glow)$/.test(name) && options.operands.some((each) => /^\w+:/.test(each)))
    run.report("unknown", "unknown-path", `${name} may open or change what is no file`);
};

/** Notes the operands as files that are read; returns the mark of what they hold. */
export const readOperands = (call: Call, operands: readonly string[]): string =>
  taintOf(call.stdin, ...operands.map((path) => call.run.read(path, call.state)));

/** What a program prints that lists the files below some folders. */
export const namesBelow = (folders: readonly string[]): string =>
  (folders.length === 0 ? ["."] : folders).map((folder) => `${folder}/${namesMark}\n`).join("");

/** A program that prints what its operands hold. */
const reader: Program = (call) => {
  const options = readOptions(call.args, valued[call.name] ?? "");
  if (call.name === "tree" && options.has("o"))
    for (const path of options.values("o")) call.run.write(path, call.state);
  if (call.name === "date" && options.has("s", "set")) {
    call.run.report("privilege", "sets-clock", "it sets the clock of this machine");
    return undefined;
  }
  noteOptions(call, options);
  if (call.name === "jq" && /\benv\b|\$ENV/.test(options.operands[0] ?? "")) call.run.noteSecret();
  if (call.name === "date") return undefined;
  if (/^(?:less|more|most|pg)$/.test(call.name)) {
    for (const arg of call.args) {
      const text = /^\+[^!|]*[!|](.*)$/s.exec(arg)?.[1];
      if (text !== undefined) call.run.script(text, call.state.clone(), undefined);
    }
    return readOperands(
      call,
      options.operands.filter((path) => !path.startsWith("+")),
    );
  }
  return readOperands(call, options.operands);
};

/** `hostname NAME` names the machine. */
const hostname: Program = ({ args, run }) => {
  if (args.some((arg) => !arg.startsWith("-") || /^-(?:F|b|-file|-boot)/.test(arg)))
    run.report("privilege", "sets-name", "hostname names this machine anew");
  return undefined;
};

/** `ss -K` closes the connections of others. */
const sockets: Program = ({ args, run }) => {
  if (args.some((arg) => /^(?:-[a-zA-Z]*[KD]|--kill|--diag)/.test(arg)))
    run.report("unknown", "unknown-arguments", "ss closes connections or writes a file");
  return undefined;
};

/** Programs that print of themselves: nothing of their arguments is a file. */
const teller: Program = ({ stdin, args }) => taintOf(stdin, ...args);

/** `printenv` and its like show what the environment holds, secrets included. */
const environment: Program = ({ run, args }) => {
  if (args.length > 0 && !args.some((arg) => /key|token|secret|pass|auth|cred/i.test(arg))) return undefined;
  run.noteSecret();
  run.report("read", "reads-environment", "it prints variables of the environment, which may hold secrets");
  return secretMark;
};

const grepValued =
  "e f A B C m regexp file after-context before-context context max-count include exclude exclude-dir exclude-from color label";

const ripgrepValued = `${grepValued} g t T r E M j d glob iglob type type-not replace pre pre-glob encoding max-columns threads max-depth sort sortr pager hostname-bin`;

/** The first operand is a pattern, the others are files. */
const grep: Program = (call) => {
  const plain = call.name.endsWith("grep");
  const options = readOptions(call.args, plain ? `${grepValued} d D` : ripgrepValued);
  for (const path of options.values("f", "file", "exclude-from")) call.run.read(path, call.state);
  for (const program of options.values("pre", "pager", "hostname-bin"))
    call.run.exec([program], call.state.clone(), call.stdin);
  const noPattern = options.has("e", "f", "regexp", "file", "files");
  const files = noPattern ? options.operands : options.operands.slice(1);
  const mark = readOperands(call, files);
  const names = options.has("l", "L", "files-with-matches", "files-without-match", "files");
  if (!names || isSecret(mark) || (plain && !options.has("r", "R", "recursive"))) return mark;
  return namesBelow(files);
};

/** Where the shell is, where that is one place. */
const pwd: Program = ({ state }) => {
  const [only, ...others] = state.directories ?? [];
  return only === undefined || others.length > 0 ? undefined : `${only}\n`;
};

/** `man` shows its pages through a program that it may be given. */
const man: Program = ({ args, run, state }) => {
  for (const text of readOptions(args, "P pager H html S s M C").values("P", "pager", "H", "html"))
    run.script(text, state.clone(), undefined);
  return undefined;
};

const tellers =
  "whoami id uname arch nproc uptime free w who users groups logname tty locale getconf true false test [ seq sleep basename dirname type which whereis getent lscpu lsblk lsusb lspci lsmod vmstat iostat mpstat ps pgrep pidof top htop cal expr factor numfmt tput clear reset yes info apropos whatis help sw_vers times dirs wait md5 uuidgen netstat";

export const readerPrograms = [
  ...entries(
    "ls dir vdir head tail wc stat file du df tree more less most pg zless zmore column fold fmt expand unexpand nl od hexdump hd strings diff diff3 sdiff colordiff cmp comm join paste cut jq gron xq md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum readlink realpath namei pathchk lsattr getfacl zcat bzcat xzcat zstdcat gzcat nm objdump readelf size ldd lsof bat batcat cloc tokei scc eza exa lsd date tsort ptx pr identify ffprobe pdfinfo xmllint csvlook mdcat glow hexyl dust duf",
    reader,
  ),
  ...entries(tellers, teller),
  ...entries("hostname", hostname),
  ...entries("ss", sockets),
  ...entries("pwd", pwd),
  ...entries("man", man),
  ...entries("printenv", environment),
  ...entries("grep egrep fgrep zgrep rg ag ack ugrep pcregrep", grep),
];
