import { mayBeOption } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import { byWords, type Call, type Family } from "./spec.ts";

/** `ps aux`: letters without a dash; `e` shows the environment of processes. */
const processes = ({ args, walk }: Call, parsed: Parsed): void => {
  // `-auxe` does not name a user `xe`: ps reads it again as `auxe`.
  if (
    args.some((arg) => /^-[a-zA-Z]*[uUgGpts][a-zA-Z]*e/.test(arg)) ||
    parsed.values("-o", "--format").some((each) => /env/i.test(each))
  )
    walk.secret("reads-environment", "ps may show the environment of processes, which may hold secrets");
  for (const arg of parsed.operands) {
    if (!/^[a-zA-Z]{1,8}$|^[\d,]+$/.test(arg))
      walk.unknown("unknown-word", `the policy cannot tell what ps ${arg} shows`);
    if (/e/.test(arg) && !/^\d/.test(arg))
      walk.secret("reads-environment", "ps e shows the environment of processes, which may hold secrets");
    else if (/[^auxwfljsvTrhnmcgX\d,]/.test(arg))
      walk.unknown("unknown-word", `the policy cannot tell what ps ${arg} shows`);
  }
};

/** Commands of a pager that only move: `+G`, `+/word`. */
const pager = ({ args, walk, scope }: Call): void => {
  for (const arg of args) {
    if (!arg.startsWith("+") || /^\+{1,2}(?:\d*[gGF%]?|\/[\w .-]*)$/.test(arg)) continue;
    walk.unknown("unknown-word", `the policy cannot tell what the pager's command ${arg} does`);
    const text = /^\+[^!|]*[!|](.*)$/s.exec(arg)?.[1];
    if (text !== undefined) walk.suspect(() => walk.script(text, scope.fresh(), undefined));
  }
};

const clock = ({ args, walk }: Call): void => {
  const operands = args.filter(
    (arg, index) =>
      !arg.startsWith("-") && !/^(?:-d|-r|--date|--reference|-f|-s)$/.test(args[index - 1] ?? ""),
  );
  if (operands.some((each) => !each.startsWith("+") && !mayBeOption(each)))
    walk.report("privilege", "sets-clock", "date sets the clock of this machine");
};

/** `name` alone, `man 3 name`; a path is a page of any origin. */
const manual = ({ args, walk }: Call): void => {
  for (const arg of args)
    if (!/^[\w.+:-]+$/.test(arg) || arg.includes(".."))
      walk.unknown("unknown-word", `the policy cannot tell what man does with ${arg}`);
};

const variables = ({ args, walk }: Call): void => {
  if (
    args.length > 0 &&
    args.every((arg) => /^\w+$/.test(arg) && !/key|token|secret|pass|auth|cred|_(?:url|uri|dsn)$/i.test(arg))
  )
    return;
  walk.secret("reads-environment", "it prints variables of the environment, which may hold secrets");
};

/** Databases of the system; names of machines are asked for at a server of names. */
const entries = (call: Call, { operands }: Parsed): void => {
  const [database = "", ...names] = operands;
  if (/^g?shadow$/.test(database)) call.walk.secret("secret-file", "getent shows passwords");
  else if (/^(?:a?hosts(?:v[46])?|networks)$/.test(database)) for (const each of names) noteHost(call, each);
  else if (!/^(?:passwd|group|services|protocols|rpc|ethers|aliases)$/.test(database))
    call.walk.unknown("unknown-word", `the policy cannot tell what getent ${database} asks`);
};

/** Programs that take more options from a file: `nm @file`. */
const responseFile = ({ walk, name }: Call, { operands }: Parsed): void => {
  for (const each of operands)
    if (each.startsWith("@"))
      walk.unknown("unknown-option", `${name} takes options from the file ${each.slice(1)}`);
};

const sums =
  "-[bctw] --check --binary --text --tag --zero --quiet --status --strict -a=number --algorithm=text";

/** Programs that show names, attributes and what files hold. */
export const readers: Family = {
  "ls dir vdir": {
    usage:
      "-[aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1] -I=text -w=number -T=number --all --almost-all --author --escape --block-size=text --classify?=text --color?=text --directory --file-type --format=text --full-time --group-directories-first --no-group --human-readable --si --dereference --hide=text --hyperlink?=text --indicator-style=text --inode --ignore=text --kibibytes --numeric-uid-gid --literal --quote-name --quoting-style=text --reverse --recursive --size --sort=text --time=text --time-style=text --tabsize=number --width=number --context --zero --version --help list...",
    fallback: ".",
    anyOption: true,
  },
  "eza exa lsd": {
    usage:
      "-[1aAbBdDfFghHiIlLmnrRsStTuUx@] --all --long --tree --git --icons --header --recurse --reverse --oneline --level=number --sort=text --color=text list...",
    fallback: ".",
  },
  "stat gstat": "-[Lft] -c=text --format=text --printf=text --dereference --file-system --terse list...",
  "readlink greadlink":
    "-[femnqsvz] --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero list...",
  realpath: "-[emLPqsz] --relative-to=list --relative-base=list --strip --quiet --zero list...",
  "basename dirname": {
    usage: "-[az] -s=text --multiple --suffix=text --zero text...",
    anyOption: true,
  },
  tree: {
    usage:
      "-[adflxiqNQpugshDFvtcUrAnSCXJ] -L=number -P=text -I=text -o=write --noreport --dirsfirst --filelimit=number --prune --gitignore --du --si --charset=text --matchdirs --ignore-case --sort=text --timefmt=text --metafirst --filesfirst --inodes --device list...",
    fallback: ".",
  },
  du: {
    usage:
      "-[0aAbcDhHklLmPsSx] -d=number -t=text -B=text --all --apparent-size --bytes --total --human-readable --max-depth=number --summarize --exclude=text --threshold=text --time?=text --block-size=text --one-file-system --null --si --separate-dirs list...",
    fallback: ".",
  },
  df: {
    usage:
      "-[aBhHiklmPTv] -t=text -x=text --all --human-readable --inodes --local --output?=text --portability --print-type --si --total --type=text --exclude-type=text list...",
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
        walk.unknown(
          "hidden-expression",
          "the policy cannot tell what the test looks at, and it may run a command",
        );
    },
  },
  "cat tac zcat bzcat xzcat zstdcat gzcat": {
    usage:
      "-[AbeEnstTuvq] --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting read...",
    anyOption: true,
    prints: ({ args, stdin }) => (args.length === 0 ? stdin : undefined),
  },
  head: "-[qvz] -# -n=number -c=number --lines=number --bytes=number --quiet --silent --verbose --zero-terminated read...",
  tail: "-[fFqvrz] -# -n=number -c=number -s=number --lines=number --bytes=number --follow?=text --pid=number --retry --sleep-interval=number --quiet --silent --verbose --zero-terminated read...",
  "more most zmore": { usage: "-[cdflpsu] -# -n=number read...", judge: pager },
  "less zless": {
    usage:
      "-[aAcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX~] -# -p=unknown -P=text -x=number -y=number -z=number --quit-if-one-screen --no-init --RAW-CONTROL-CHARS --chop-long-lines --LINE-NUMBERS --ignore-case read...",
    judge: pager,
  },
  "bat batcat":
    "-[npAPuf] -l=text -r=text -H=text --plain --number --show-all --no-paging --style=text --theme=text --language=text --line-range=text --highlight-line=text --color=text --paging=text --wrap=text --tabs=number --decorations=text read...",
  wc: "-[clLmw] --bytes --chars --lines --max-line-length --words --total=text read...",
  file: "-[bhiIklLnNprsvzZ0E] -F=text -e=text --brief --mime --mime-type --mime-encoding --dereference --extension read...",
  "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum md5": `${sums} read...`,
  "diff colordiff": {
    usage:
      "-[abBcdeEipqrstTuwyZ] -# -U=number -C=number -W=number -I=text -x=text -F=text -L=text --unified?=number --context?=number --brief --recursive --side-by-side --color?=text --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --exclude=text --label=text --width=number --suppress-common-lines --strip-trailing-cr --text --minimal --normal --report-identical-files --no-dereference read...",
    tree: "-r --recursive",
    judge: ({ walk, scope }, { operands }) => {
      // Of two folders, the files are compared.
      for (const path of operands) if (!/[^/.]\.(?!d$)\w+$|^\/dev\//.test(path)) walk.tree(path, scope);
    },
  },
  cmp: "-[bls] -i=text -n=number --print-bytes --verbose --quiet --silent read read text...",
  comm: "-[123iz] --check-order --nocheck-order --output-delimiter=text --total read read",
  "hexdump hd hexyl": "-[bcCdovx] -n=number -s=number -e=text -f=read read...",
  od: "-[abcdefFhHiIlLoOsvxX] -A=text -j=text -N=text -t=text -w?=number -S=number --address-radix=text --format=text --read-bytes=text --skip-bytes=text read...",
  strings: {
    usage: "-[afow] -n=number -t=text -e=text -s=text --all --bytes=number read...",
    judge: responseFile,
  },
  "nm size objdump readelf": {
    usage:
      "-[aABCDdefghHilnoprRsStTuVwWxXz] --all --demangle --dynamic --headers --sections --symbols --syms --disassemble --private-headers --format=text read...",
    judge: responseFile,
  },
  "lsattr getfacl namei pathchk": "-[aAdlmoRnpv] list...",
  date: {
    usage:
      "-[uR] -I?=text -d=text -r=list -f=read -s=text!privilege --date=text --utc --universal --iso-8601?=text --rfc-3339=text --rfc-email --reference=list --file=read --set=text!privilege text...",
    judge: clock,
  },
  ps: {
    usage:
      "-[AadefFHjlLMNTwyZ] -o=text -u=text -U=text -p=text -C=text -g=text -G=text -t=text -s=text --forest --no-headers --sort=text --pid=text --ppid=text --user=text --format=text --cols=number --headers text...",
    judge: processes,
  },
  "pgrep pidof":
    "-[aflnovwxci] -u=text -U=text -g=text -P=text -t=text -d=text --full --list-name --list-full --newest --oldest --count --exact text...",
  lsof: "-[abClnNoOPRtUvVwX] -i?=text -p=text -u=text -c=text -d=text -F?=text list...",
  printenv: { usage: "-0 --null text...", judge: variables },
  "id groups cal": "-[ugGnrzmy3] --user --group --name --groups --real text...",
  "whoami logname tty arch nproc users uptime free who w vmstat iostat mpstat lscpu lsblk lsmod uuidgen sw_vers":
    "-[abdfhilmnopqrstuw] --all --human --help --version --json --list --total --mega --giga --pretty --since number...",
  uname: "-[asnrvmpio] --all --kernel-name --kernel-release --machine --nodename --operating-system",
  hostname: {
    usage: "-[sfdiIAy] --short --fqdn --domain --ip-address --all-ip-addresses unknown...",
    judge: byWords([/./, "privilege sets-name sets the name of this machine"]),
  },
  "locale getconf tput apropos whatis": "-[akmcCv] text...",
  getent: { usage: "-[is] text...", judge: entries },
  "which whereis": { usage: "-[absmuSf] --all text...", anyOption: true },
  man: { usage: "-[fkaw] -s=number --where --whatis --apropos text...", judge: manual },
  "top htop": "-[bcHiS1] -n=number -d=number -p=text -u=text -o=text",
  "cloc tokei scc": {
    usage:
      "--by-file --by-file-by-lang --quiet --csv --json --md --exclude-dir=text --include-lang=text --files --sort=text tree...",
    fallback: ".",
    tree: "",
  },
  shellcheck:
    "-[aVC] -e=text -i=text -f=text -s=text -S=text -o=text -C?=text --exclude=text --format=text --shell=text --severity=text --color?=text read...",
  ss: "-[HOnraleompsZuizt46dwxSMTU0VhbEN] --tcp --udp --listening --numeric --processes --all --summary --ipv4 --ipv6 text...",
  netstat: "-[aceglnoprstuvwW46] --all --numeric --listening --programs --tcp --udp --route --statistics",
  "ssh-keygen": {
    usage: "-[l] -f=read -E=text -v",
    does: "unknown uses-keys makes or changes keys",
    unless: "-l",
  },
};
