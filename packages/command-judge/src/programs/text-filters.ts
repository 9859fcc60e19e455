import { readAwkScript } from "../languages/awk-script.ts";
import { readSedScript } from "../languages/sed-script.ts";
import { hasMark, unknownMark } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family } from "./spec.ts";
import { suspectArguments } from "./suspect-arguments.ts";

const runs = (call: Call, commands: readonly string[]): void => {
  for (const text of commands) {
    call.walk.report("execute", "runs-code", `the script of ${call.name} runs a command`);
    call.walk.script(text === "" ? unknownMark : text, call.scope.fresh(), undefined);
  }
};

const sed = (call: Call, parsed: Parsed): void => {
  const { walk, scope } = call;
  const given = parsed.values("-e", "--expression");
  const isInPlace = parsed.has("-i", "--in-place");
  const hasFile = parsed.has("-f", "--file");
  const scripts = given.length > 0 || hasFile ? given : parsed.operands.slice(0, 1);
  const files = given.length > 0 || hasFile ? parsed.operands : parsed.operands.slice(1);
  for (const path of files) {
    walk.read(path, scope);
    if (isInPlace) walk.write(path, scope);
  }
  if (hasFile) walk.unknown("unknown-script", "sed runs a script whose content is not known");
  const text = scripts.join("\n");
  if (text === "") return;
  const script = readSedScript(text);
  if (!script.isKnown || hasMark(text)) {
    walk.unknown("unknown-script", "the script of sed is not understood");
    suspectArguments(call);
  }
  runs(call, script.runs);
  for (const path of script.reads) walk.read(path, scope);
  for (const path of script.writes) walk.write(path, scope);
};

const awk = (call: Call, parsed: Parsed): void => {
  const { walk, scope } = call;
  if (parsed.has("-f", "--file")) {
    walk.unknown("unknown-script", "awk runs a program whose content is not known");
    for (const path of parsed.operands) walk.read(path, scope);
    return;
  }
  const [text = "", ...operands] = parsed.operands;
  // `name=value` among the operands assigns; a value can become the name of a file.
  for (const each of operands)
    if (!/^[A-Za-z_]\w*=/.test(each)) walk.read(each, scope);
    else if (hasMark(each)) walk.unknown("unknown-word", "awk is given a value that is not known");
  const script = readAwkScript(text);
  if (hasMark(text)) walk.unknown("unknown-script", "the program of awk is not known in full");
  if (script.isUnknown) {
    walk.unknown("unknown-script", "the program of awk does more than select and print");
    suspectArguments(call);
  }
  for (const each of script.texts) {
    if (script.mayRun) walk.script(each, scope.fresh(), undefined);
    if (script.mayRead) walk.read(each, scope);
    if (script.mayWrite) walk.write(each, scope);
  }
  if (/\/inet\d?\//.test(text)) {
    noteHost(call, "/inet/");
    walk.report("exfiltration", "sends-data", "the program of awk opens a connection");
  }
  if (script.environment)
    walk.secret("reads-environment", "the program of awk reads the environment, which may hold secrets");
};

const jq = (call: Call, parsed: Parsed): void => {
  const { walk } = call;
  const filter = parsed.operands[0] ?? "";
  if (/\benv\b|\$ENV/.test(filter))
    walk.secret("reads-environment", "the filter of jq reads the environment, which may hold secrets");
  if (hasMark(filter) || /\b(?:import|include|modulemeta|get_search_list)\b/.test(filter))
    walk.unknown("unknown-script", "the filter of jq is not known in full");
};

/** Programs that change text on its way. */
export const textFilters: Family = {
  "sed gsed": {
    usage:
      "-[nErszu] -e=text -f=read -i?=text!write -l=number --quiet --silent --expression=text --file=read --in-place?=text!write --regexp-extended --separate --null-data --posix --sandbox --unbuffered --debug text...",
    judge: sed,
  },
  "awk gawk mawk nawk": {
    usage: "-F=text -v=text -f=read --field-separator=text --assign=text --file=read text...",
    style: "posix",
    judge: awk,
  },
  "jq gojq": {
    usage:
      "-[rjaScCsnRMe] --raw-output --join-output --ascii-output --compact-output --slurp --null-input --raw-input --sort-keys --color-output --monochrome-output --exit-status --tab --indent=number --stream --seq --unbuffered text read...",
    judge: jq,
  },
  sort: "-[bcCdfghiMnrRsuVz] -m -k=text -t=text -o=write -S=text -T=write --key=text --field-separator=text --output=write --buffer-size=text --parallel=number --reverse --unique --numeric-sort --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --ignore-leading-blanks --check?=text --stable --zero-terminated --merge --random-sort --month-sort --dictionary-order read...",
  uniq: "-[cdDiuz] -f=number -s=number -w=number --count --repeated --unique --ignore-case --skip-fields=number --skip-chars=number --check-chars=number --all-repeated?=text --group?=text read write",
  cut: "-[nsz] -b=text -c=text -d=text -f=text --bytes=text --characters=text --delimiter=text --fields=text --complement --only-delimited --output-delimiter=text read...",
  tr: "-[cCdst] --complement --delete --squeeze-repeats --truncate-set1 text text",
  "nl fold fmt expand unexpand rev pr": {
    usage: "-[abcdefFhijlmnoprstuvw] -# --width=number --spaces --tabs=text --bytes --initial read...",
    anyOption: true,
  },
  column: "-[txenLR] -s=text -o=text -c=number -N=text --table --separator=text --json read...",
  paste: "-[sz] -d=text --delimiters=text --serial read...",
  join: "-[iz] -1=number -2=number -t=text -o=text -a=number -e=text -v=number -j=number read read",
  tsort: "read",
  shuf: "-[erz] -i=text -n=number -o=write --input-range=text --head-count=number --output=write --repeat --echo read...",
  "base64 base32 basenc":
    "-[dDi] -w=number --decode --ignore-garbage --wrap=number --base64 --base64url --base32 --base16 read",
  xxd: "-[abCeEipruv] -c=number -g=number -l=number -s=text -o=number -ps read write",
  iconv: "-[cls] -f=text -t=text -o=write --from-code=text --to-code=text --output=write --list read...",
  numfmt: "--to=text --from=text --suffix=text --padding=number --field=text --grouping -d=text text...",
  seq: "-[w] -f=text -s=text --equal-width --separator=text --format=text number...",
  "expr factor yes": { style: "words" },
  yq: {
    usage: "-[rePM] -o=text -p=text --output-format=text text read...",
    judge: ({ walk }, { operands }) => {
      const [filter = ""] = operands;
      if (
        /^e(?:val|a|val-all)?$/.test(filter) ||
        !/^[\w.[\]"| -]*$/.test(filter) ||
        /\b(?:env|load\w*|envsubst)\b/.test(filter)
      )
        walk.unknown("unknown-script", "the filter of yq is not understood");
    },
  },
  ts: "-[irsm] text",
  tee: {
    usage: "-[aip] --append --ignore-interrupts --output-error?=text write...",
    prints: ({ stdin }) => stdin,
  },
  "split csplit":
    "-[dxeukqsz] -b=text -l=number -n=text -a=number -C=text -f=text --lines=number --bytes=text --number=text --verbose --numeric-suffixes read write => write writes makes files",
};
