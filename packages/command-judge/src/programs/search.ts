import { isUnknown, namesMark, unknownMark } from "../marks.ts";
import { isSecretPath, mayHoldSecrets } from "../paths/secret-paths.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family } from "./spec.ts";

/** Types of ripgrep whose files hold no secrets by their names. */
const plainTypes =
  /^(?:ts|typescript|js|jsx?|tsx|py|python|rust|rs|go|java|c|cpp|h|cs|csharp|rb|ruby|php|swift|kotlin|scala|md|markdown|css|html|lua|zig|elixir|haskell|sql|vue|svelte)$/;

const isPlainPattern = (pattern: string): boolean =>
  !/^!|[{}]/.test(pattern) && !isUnknown(pattern) && !isSecretPath(pattern) && !mayHoldSecrets(pattern);

/** Whether the options of a search leave out files with secrets. */
const isNarrow = (parsed: Parsed): boolean => {
  const patterns = parsed.values("--include", "-g", "--glob", "--iglob");
  const types = parsed.values("-t", "--type");
  if (patterns.length === 0 && types.length === 0) return false;
  const including = patterns.filter((each) => !each.startsWith("!"));
  return (
    (including.length > 0 || types.length > 0) &&
    including.every(isPlainPattern) &&
    types.every((type) => plainTypes.test(type))
  );
};

/** `grep`, `rg` and their like: a pattern, then files; folders as a whole where it searches them. */
const searcher =
  (isAlwaysTree: boolean) =>
  (call: Call, parsed: Parsed): void => {
    const { walk, scope } = call;
    const hasPattern = parsed.has("-e", "--regexp", "-f", "--file", "--files");
    const files = hasPattern ? parsed.operands : parsed.operands.slice(1);
    const isTree = isAlwaysTree || parsed.has("-r", "-R", "--recursive", "--dereference-recursive");
    const namesOnly = parsed.has("--files");
    // Without files, grep -r never reads its input, and the others only where there is one.
    const hasInput = isAlwaysTree && call.stdin !== undefined && call.stdin !== "";
    const named = files.length > 0 || !isTree || hasInput ? files : ["."];
    for (const file of named) {
      if (namesOnly || file === "-") walk.list(file, scope);
      else if (!isTree) walk.read(file, scope);
      else if (isNarrow(parsed)) walk.read(file, scope);
      else walk.tree(file, scope);
    }
  };

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Tests and actions of find that take no word, and that take one. */
const plainTests = wordSet(
  "-a -and -o -or -not ! ( ) , -depth -d -daystart -follow -mount -xdev -noleaf -ignore_readdir_race -empty -executable -readable -writable -nouser -nogroup -true -false -print -print0 -ls -prune -quit -warn -nowarn",
);
const valuedTests = wordSet(
  "-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size -perm -user -group -uid -gid -mtime -atime -ctime -mmin -amin -cmin -links -inum -fstype -maxdepth -mindepth -printf -used -newer -anewer -cnewer -samefile -newermt -newerat -newerct -newermm",
);

const find = (call: Call): void => {
  const { args, walk, scope, stdin } = call;
  let at = args.findIndex((arg) => /^(?:[-(!,]|[\uE000\uE001])/.test(arg) && !/^-[HLP]$|^-O\d$/.test(arg));
  if (at === -1) at = args.length;
  const roots = args.slice(0, at).filter((arg) => !/^-[HLPO]\d?$/.test(arg));
  if (roots.length === 0) roots.push(".");
  for (const root of roots) walk.list(root, scope);
  const patterns: string[] = [];
  const unclear = (word: string): void =>
    walk.unknown("unknown-option", `the policy cannot tell what ${word} does in the expression of find`);
  while (at < args.length) {
    const word = args[at++] ?? "";
    if (plainTests.has(word) || valuedTests.has(word)) {
      const value = args[at] ?? "";
      if (/^-i?name$/.test(word) && !/^(?:!|-not|-o|-or)$/.test(args[at - 2] ?? "")) patterns.push(value);
      // An alternative, or what is negated as a group, says nothing about what is found.
      if (/^(?:-o|-or|,)$/.test(word) || (/^(?:!|-not)$/.test(word) && value === "(")) patterns.push("*");
      if (valuedTests.has(word)) at++;
    } else if (/^-(?:exec|execdir|ok|okdir)$/.test(word)) {
      const end = args.findIndex(
        (arg, index) => index >= at && (arg === ";" || (arg === "+" && args[index - 1] === "{}")),
      );
      const command = args.slice(at, end === -1 ? args.length : end);
      if (/(?:^|\/)(?:rm|rmdir|unlink|shred)$/.test(command[0] ?? ""))
        walk.report("destructive", "sweeping-delete", "find deletes whatever it finds");
      at = end === -1 ? args.length : end + 1;
      const names = patterns.length > 0 && patterns.every(isPlainPattern) ? patterns : ["*"];
      const found = roots.flatMap((root) =>
        names.slice(0, 4).map((name) => `${/^[-/.~]/.test(root) ? root : `./${root}`}/${namesMark}/${name}`),
      );
      walk.run(
        command.flatMap((each) => {
          if (each === "{}") return found;
          return [each.includes("{}") ? each.replaceAll("{}", unknownMark) : each];
        }),
        /dir$/.test(word) ? Object.assign(scope.clone(), { directories: undefined }) : scope,
        stdin,
      );
    } else if (word === "-delete")
      walk.report("destructive", "sweeping-delete", "find deletes whatever it finds");
    else if (/^-(?:fprint0?|fls)$/.test(word)) walk.write(args[at++] ?? "", scope);
    else if (word === "-fprintf") {
      walk.write(args[at] ?? "", scope);
      at += 2;
    } else unclear(word);
  }
};

/** Commands of xargs that are looked at. */
const maxRuns = 16;

const xargs = (call: Call, parsed: Parsed): void => {
  const { walk, scope, stdin } = call;
  const words = parsed.operands.length === 0 ? ["echo"] : parsed.operands;
  const [placeholder] = parsed.values("-I", "-i", "--replace");
  const replaced = placeholder === "" ? "{}" : placeholder;
  const isKnown =
    stdin !== undefined &&
    !/[\uE000-\uE003'"\\]/.test(stdin) &&
    !parsed.has("-0", "--null", "-d", "--delimiter", "-a", "--arg-file", "-L", "--max-lines", "-s");
  const fields = isKnown
    ? stdin.split(replaced === undefined ? /\s+/ : /\n/).flatMap((each) => each.trim() || [])
    : [unknownMark];
  const [most = String(fields.length || 1)] = parsed.values("-n", "--max-args");
  const size = Math.max(1, Number.parseInt(most, 10) || 1);
  const runs =
    replaced === undefined
      ? Array.from({ length: Math.max(1, Math.ceil(fields.length / size)) }, (_, index) => [
          ...words,
          ...fields.slice(index * size, (index + 1) * size),
        ])
      : fields.map((field) => words.map((word) => word.replaceAll(replaced, field)));
  for (const run of runs.slice(0, maxRuns)) walk.run(run, scope, undefined);
  if (runs.length > maxRuns) walk.unknown("too-large", "xargs runs more commands than are looked at");
  if (!isKnown && /^(?:rm|rmdir|unlink|shred)$/.test(words[0] ?? ""))
    walk.report("destructive", "sweeping-delete", `xargs runs ${words[0]} with unknown names`);
};

/** Programs that look for files, and for text in them. */
export const search: Family = {
  "grep egrep fgrep zgrep": {
    usage:
      "-[EFGPiyvwxcLlqsbHhnoTUzZarR] -# -e=text -f=read -m=number -A=number -B=number -C=number --regexp=text --file=read --extended-regexp --fixed-strings --perl-regexp --basic-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color?=text --colour?=text --files-without-match --files-with-matches --max-count=number --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --null --after-context=number --before-context=number --context=number --text --binary-files=text --recursive --dereference-recursive --include=text --exclude=text --exclude-dir=text --line-buffered --null-data --label=text text...",
    judge: searcher(false),
  },
  rg: {
    usage:
      "-[aFiHhIlLnNopPqSsUuvVwx0c.] -A=number -B=number -C=number -e=text -f=read -g=text -m=number -M=number -t=text -T=text -r=text -E=text -j=number -d=number --regexp=text --file=read --glob=text --iglob=text --type=text --type-not=text --type-list --files --files-with-matches --files-without-match --hidden --no-ignore --no-ignore-vcs --ignore-case --case-sensitive --smart-case --fixed-strings --pcre2 --multiline --multiline-dotall --line-number --no-line-number --column --count --count-matches --heading --no-heading --color=text --colors=text --max-count=number --max-depth=number --max-columns=number --max-filesize=text --after-context=number --before-context=number --context=number --word-regexp --line-regexp --invert-match --only-matching --no-messages --null --json --vimgrep --stats --sort=text --sortr=text --trim --text --follow --one-file-system --quiet --with-filename --no-filename --replace=text --passthru --no-config text...",
    judge: searcher(true),
  },
  ag: {
    usage:
      "-[aciklLnoQsSuvwz0] -A=number -B=number -C=number -G=text -g=text -m=number --hidden --ignore=text --literal --count --files-with-matches --nocolor --nogroup --color --group --column --depth=number text...",
    judge: searcher(true),
  },
  "find gfind": { style: "words", judge: find },
  "fd fdfind": {
    usage:
      "-[HIuasiFglp01qL] -e=text -E=text -t=text -d=number -S=text -c=text --hidden --no-ignore --absolute-path --ignore-case --case-sensitive --glob --fixed-strings --list-details --follow --full-path --max-depth=number --min-depth=number --exact-depth=number --type=text --extension=text --exclude=text --size=text --color=text --print0 --changed-within=text --changed-before=text --max-results=number text list...",
    fallback: ".",
  },
  "locate mlocate plocate": "-[bceilpr0] -n=number text...",
  "xargs gxargs": {
    usage:
      "-[0rtxp] -I=text -n=number -L=number -P=number -s=number -d=text -a=read -E=text --null --no-run-if-empty --max-args=number --max-procs=number --max-lines?=number --delimiter=text --arg-file=read --replace?=text --verbose --exit text...",
    style: "posix",
    judge: xargs,
  },
};
