import { mayBeOption } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family } from "./spec.ts";

/** `ps aux`: letters without a dash; `e` shows the environment of processes. */
const processes = ({ args, walk }: Call, parsed: Parsed): undefined => {
  // `-auxe` is no user `xe`, but read again as `auxe`.
  if (
    args.some((arg) => /^-[a-zA-Z]*[uUgGpts][a-zA-Z]*e/.test(arg)) ||
    parsed.values("-o", "--format").some((each) => /env/i.test(each))
  )
    walk.secret("reads-environment", "ps may show the environment of processes, which may hold secrets");
  for (const arg of parsed.operands) {
    if (!/^[a-zA-Z]{1,8}$|^[\d,]+$/.test(arg))
      walk.unknown("unknown-word", `it is not known what ps ${arg} shows`);
    if (/e/.test(arg) && !/^\d/.test(arg))
      walk.secret("reads-environment", "ps e shows the environment of processes, which may hold secrets");
    else if (/[^auxwfljsvTrhnmcgX\d,]/.test(arg))
      walk.unknown("unknown-word", `it is not known what ps ${arg} shows`);
  }
};

/** Commands of a pager that only move: `+G`, `+/word`. */
const pager = ({ args, walk, scope }: Call): undefined => {
  for (const arg of args) {
    if (!arg.startsWith("+") || /^\+{1,2}(?:\d*[gGF%]?|\/[\w .-]*)$/.test(arg)) continue;
    walk.unknown("unknown-word", `it is not known what the pager's command ${arg} does`);
    const text = /^\+[^!|]*[!|](.*)$/s.exec(arg)?.[1];
    if (text !== undefined) walk.suspect(() => walk.script(text, scope.fresh(), undefined));
  }
};

const clock = ({ args, walk }: Call): undefined => {
  const operands = args.filter(
    (arg, index) =>
      !arg.startsWith("-") && !/^(?:-d|-r|--date|--reference|-f|-s)$/.test(args[index - 1] ?? ""),
  );
  if (operands.some((each) => !each.startsWith("+") && !mayBeOption(each)))
    walk.report("privilege", "sets-clock", "date sets the clock of this machine");
};

/** `name` alone, `man 3 name`; a path is a page that somebody wrote. */
const manual = ({ args, walk }: Call): undefined => {
  for (const arg of args)
    if (!/^[\w.+:-]+$/.test(arg) || arg.includes(".."))
      walk.unknown("unknown-word", `it is not known what man does with ${arg}`);
};

const variables = ({ args, walk }: Call): undefined => {
  if (
    args.length > 0 &&
    args.every((arg) => /^\w+$/.test(arg) && !/key|token|secret|pass|auth|cred|_(?:url|uri|dsn)$/i.test(arg))
  )
    return;
  walk.secret("reads-environment", "it prints variables of the environment, which may hold secrets");
};

/** Databases of the system; names of machines are asked for at a server of names. */
const entries = (call: Call, { operands }: Parsed): undefined => {
  const [database = "", ...names] = operands;
  if (/^g?shadow$/.test(database)) call.walk.secret("secret-file", "getent shows passwords");
  else if (/^(?:a?hosts(?:v[46])?|networks)$/.test(database)) for (const each of names) noteHost(call, each);
  else if (!/^(?:passwd|group|services|protocols|rpc|ethers|aliases)$/.test(database))
    call.walk.unknown("unknown-word", `it is not known what getent ${database} asks`);
};

/** Programs that take more options from a file: `nm @file`. */
const responseFile = ({ walk, name }: Call, { operands }: Parsed): undefined => {
  for (const each of operands)
    if (each.startsWith("@"))
      walk.unknown("unknown-option", `${name} takes options from the file ${each.slice(1)}`);
};

const sums =
  "-[bctw] --check --binary --text --tag --zero --quiet --status --strict -a=number --algorithm=text";

/** Programs that show names, attributes and what files hold. */
export const readers: Family = {
  "ls dir vdir": {
    options:
      "-[aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1] -I=text -w=number -T=number --all --almost-all --author --escape --block-size=text --classify?=text --color?=text --directory --file-type --format=text --full-time --group-directories-first --no-group --human-readable --si --dereference --hide=text --hyperlink?=text --indicator-style=text --inode --ignore=text --kibibytes --numeric-uid-gid --literal --quote-name --quoting-style=text --reverse --recursive --size --sort=text --time=text --time-style=text --tabsize=number --width=number --context --zero --version --help",
    operands: "list...",
    fallback: ".",
    anyOption: true,
  },
  "eza exa lsd": {
    options:
      "-[1aAbBdDfFghHiIlLmnrRsStTuUx@] --all --long --tree --git --icons --header --recurse --reverse --oneline --level=number --sort=text --color=text",
    operands: "list...",
    fallback: ".",
  },
  "stat gstat": {
    options: "-[Lft] -c=text --format=text --printf=text --dereference --file-system --terse",
    operands: "list...",
  },
  "readlink greadlink": {
    options: "-[femnqsvz] --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    operands: "list...",
  },
  realpath: {
    options: "-[emLPqsz] --relative-to=list --relative-base=list --strip --quiet --zero",
    operands: "list...",
  },
  "basename dirname": {
    options: "-[az] -s=text --multiple --suffix=text --zero",
    operands: "text...",
    anyOption: true,
  },
  tree: {
    options:
      "-[adflxiqNQpugshDFvtcUrAnSCXJ] -L=number -P=text -I=text -o=write --noreport --dirsfirst --filelimit=number --prune --gitignore --du --si --charset=text --matchdirs --ignore-case --sort=text --timefmt=text --metafirst --filesfirst --inodes --device",
    operands: "list...",
    fallback: ".",
  },
  du: {
    options:
      "-[0aAbcDhHklLmPsSx] -d=number -t=text -B=text --all --apparent-size --bytes --total --human-readable --max-depth=number --summarize --exclude=text --threshold=text --time?=text --block-size=text --one-file-system --null --si --separate-dirs",
    operands: "list...",
    fallback: ".",
  },
  df: {
    options:
      "-[aBhHiklmPTv] -t=text -x=text --all --human-readable --inodes --local --output?=text --portability --print-type --si --total --type=text --exclude-type=text",
    operands: "list...",
    anyOption: true,
  },
  "test [": {
    style: "words",
    judge: ({ args, walk }) => {
      const words = args.at(-1) === "]" ? args.slice(0, -1) : args;
      const named = words[words.indexOf("-v") + 1] ?? "";
      const mayEvaluate =
        (words.includes("-v") && !/^\w+$/.test(named)) ||
        (words.length !== 3 && words.slice(0, -1).some((word) => word.includes("\uE000"))) ||
        (/\uE000/.test(words.join("")) && words.length > 4);
      if (mayEvaluate)
        walk.unknown("hidden-expression", "it is not known what the test looks at, and it may run a command");
      return undefined;
    },
  },
  "cat tac zcat bzcat xzcat zstdcat gzcat": {
    options:
      "-[AbeEnstTuvq] --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
    operands: "read...",
    anyOption: true,
    judge: ({ args, stdin }) => (args.length === 0 ? stdin : undefined),
  },
  head: {
    options:
      "-[qvz] -# -n=number -c=number --lines=number --bytes=number --quiet --silent --verbose --zero-terminated",
    operands: "read...",
  },
  tail: {
    options:
      "-[fFqvrz] -# -n=number -c=number -s=number --lines=number --bytes=number --follow?=text --pid=number --retry --sleep-interval=number --quiet --silent --verbose --zero-terminated",
    operands: "read...",
  },
  "more most zmore": { options: "-[cdflpsu] -# -n=number", operands: "read...", judge: pager },
  "less zless": {
    options:
      "-[aAcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~] -# -p=unknown -P=text -x=number -y=number -z=number --quit-if-one-screen --no-init --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS --ignore-case",
    operands: "read...",
    judge: pager,
  },
  "bat batcat": {
    options:
      "-[npAPuf] -l=text -r=text -H=text --plain --number --show-all --no-paging --style=text --theme=text --language=text --line-range=text --highlight-line=text --color=text --paging=text --wrap=text --tabs=number --decorations=text",
    operands: "read...",
  },
  wc: {
    options: "-[clLmw] --bytes --chars --lines --max-line-length --words --total=text",
    operands: "read...",
  },
  file: {
    options:
      "-[bhiIklLnNprsvzZ0E] -F=text -e=text --brief --mime --mime-type --mime-encoding --dereference --extension",
    operands: "read...",
  },
  "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum md5": {
    options: sums,
    operands: "read...",
  },
  "diff colordiff": {
    options:
      "-[abBcdeEipqrstTuwyZ] -# -U=number -C=number -W=number -I=text -x=text -F=text -L=text --unified?=number --context?=number --brief --recursive --side-by-side --color?=text --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --exclude=text --label=text --width=number --suppress-common-lines --strip-trailing-cr --text --minimal --normal --report-identical-files --no-dereference",
    operands: "read...",
    tree: "-r --recursive",
    judge: ({ walk, scope }, { operands }) => {
      // Of two folders, the files are compared.
      for (const path of operands) if (!/[^/.]\.(?!d$)\w+$|^\/dev\//.test(path)) walk.tree(path, scope);
      return undefined;
    },
  },
  cmp: {
    options: "-[bls] -i=text -n=number --print-bytes --verbose --quiet --silent",
    operands: "read read text...",
  },
  comm: {
    options: "-[123iz] --check-order --nocheck-order --output-delimiter=text --total",
    operands: "read read",
  },
  "hexdump hd hexyl": {
    options: "-[bcCdovx] -n=number -s=number -e=text -f=read",
    operands: "read...",
  },
  od: {
    options:
      "-[abcdefFhHiIlLoOsvxX] -A=text -j=text -N=text -t=text -w?=number -S=number --address-radix=text --format=text --read-bytes=text --skip-bytes=text",
    operands: "read...",
  },
  strings: {
    options: "-[afow] -n=number -t=text -e=text -s=text --all --bytes=number",
    operands: "read...",
    judge: responseFile,
  },
  "nm size objdump readelf": {
    options:
      "-[aABCDdefghHilnoprRsStTuVwWxXz] --all --demangle --dynamic --headers --sections --symbols --syms --disassemble --private-headers --format=text",
    operands: "read...",
    judge: responseFile,
  },
  "lsattr getfacl namei pathchk": { options: "-[aAdlmoRnpv]", operands: "list..." },
  date: {
    options:
      "-[uR] -I?=text -d=text -r=list -f=read -s=text!privilege --date=text --utc --universal --iso-8601?=text --rfc-3339=text --rfc-email --reference=list --file=read --set=text!privilege",
    operands: "text...",
    judge: clock,
  },
  ps: {
    options:
      "-[AadefFHjlLMNTwyZ] -o=text -u=text -U=text -p=text -C=text -g=text -G=text -t=text -s=text --forest --no-headers --sort=text --pid=text --ppid=text --user=text --format=text --cols=number --headers",
    operands: "text...",
    judge: processes,
  },
  "pgrep pidof": {
    options:
      "-[aflnovwxci] -u=text -U=text -g=text -P=text -t=text -d=text --full --list-name --list-full --newest --oldest --count --exact",
    operands: "text...",
  },
  lsof: {
    options: "-[abClnNoOPRtUvVwX] -i?=text -p=text -u=text -c=text -d=text -F?=text",
    operands: "list...",
  },
  printenv: { options: "-0 --null", operands: "text...", judge: variables },
  "id groups cal": { options: "-[ugGnrzmy3] --user --group --name --groups --real", operands: "text..." },
  "whoami logname tty arch nproc users uptime free who w vmstat iostat mpstat lscpu lsblk lsmod uuidgen sw_vers":
    {
      options:
        "-[abdfhilmnopqrstuw] --all --human --help --version --json --list --total --mega --giga --pretty --since",
      operands: "number...",
    },
  uname: {
    options: "-[asnrvmpio] --all --kernel-name --kernel-release --machine --nodename --operating-system",
  },
  hostname: {
    options: "-[sfdiIAy] --short --fqdn --domain --ip-address --all-ip-addresses",
    operands: "unknown...",
    judge: ({ args, walk }) => {
      if (args.some((arg) => !arg.startsWith("-")))
        walk.report("privilege", "sets-name", "hostname sets the name of this machine");
      return undefined;
    },
  },
  "locale getconf tput apropos whatis": { options: "-[akmcCv]", operands: "text..." },
  getent: { options: "-[is]", operands: "text...", judge: entries },
  "which whereis": { options: "-[absmuSf] --all", operands: "text...", anyOption: true },
  man: { options: "-[fkaw] -s=number --where --whatis --apropos", operands: "text...", judge: manual },
  "top htop": { options: "-[bcHiS1] -n=number -d=number -p=text -u=text -o=text", operands: "" },
  "cloc tokei scc": {
    options:
      "--by-file --by-file-by-lang --quiet --csv --json --md --exclude-dir=text --include-lang=text --files --sort=text",
    operands: "tree...",
    fallback: ".",
    tree: "",
  },
  shellcheck: {
    options:
      "-[aVC] -e=text -i=text -f=text -s=text -S=text -o=text -C?=text --exclude=text --format=text --shell=text --severity=text --color?=text",
    operands: "read...",
  },
  ss: {
    options:
      "-[HOnraleompsZuizt46dwxSMTU0VhbEN] --tcp --udp --listening --numeric --processes --all --summary --ipv4 --ipv6",
    operands: "text...",
  },
  netstat: {
    options: "-[aceglnoprstuvwW46] --all --numeric --listening --programs --tcp --udp --route --statistics",
    operands: "",
  },
  "ssh-keygen": {
    options: "-[l] -f=read -E=text -v",
    does: ["unknown", "uses-keys", "makes or changes keys"],
    unless: "-l",
  },
};
