import { hasMark, isUnknown } from "../marks.ts";
import type { Parsed } from "./parse-arguments.ts";
import { type Call, type Family, type Spec, withOperands } from "./spec.ts";

/**
 * A revision, a path, or both: `HEAD:.env`. Each operand is judged as a path besides, because git takes a path wherever it
 * takes a revision.
 */
const revisions = ({ walk, scope, name }: Call, parsed: Parsed): void => {
  for (const operand of parsed.operands) {
    if (parsed.has("--no-index")) walk.tree(operand, scope);
    if (isUnknown(operand))
      walk.unknown("unknown-word", `the policy cannot tell what ${name} shows: ${operand}`);
    else if (/^@?\{|^\^|^[\w@^~{}-]+$/.test(operand) && !/^\.|~\//.test(operand))
      walk.list(operand.replaceAll("~", "_"), scope);
    else walk.read(operand.slice(operand.indexOf(":") + 1), scope);
  }
  for (const format of parsed.values("--format", "--pretty"))
    if (/%G/.test(format) || hasMark(format))
      walk.unknown("unknown-word", `the format ${format} may run the program that checks signatures`);
};

export const diffOptions =
  "-[pusbwaRBMCzc] -# -U=number -M?=text -C?=text -B?=text -S=text -G=text -O?=unknown -X?=text --patch --no-patch --stat?=text --numstat --shortstat --dirstat?=text --summary --name-only --name-status --unified=number --raw --minimal --patience --histogram --color?=text --no-color --color-words?=text --word-diff?=text --word-diff-regex=text --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --no-renames --find-renames?=text --diff-filter=text --exit-code --quiet --no-ext-diff --no-textconv --text --binary --full-index --abbrev?=number --relative?=text --function-context --submodule?=text --compact-summary --patch-with-stat --check --pickaxe-all --pickaxe-regex --no-prefix --inter-hunk-context=number --output=write";

export const logOptions = `${diffOptions} -n=number -L=text -i -E -F -g -m -t --oneline --graph --all --branches?=text --tags?=text --remotes?=text --decorate?=text --no-decorate --author=text --committer=text --since=text --until=text --after=text --before=text --grep=text --invert-grep --max-count=number --skip=number --pretty?=text --format?=text --abbrev-commit --no-abbrev-commit --no-merges --merges --first-parent --reverse --follow --date=text --date-order --topo-order --full-history --no-walk --left-right --cherry-pick --cherry-mark --cherry --parents --children --boundary --simplify-by-decoration --walk-reflogs --source --no-notes --notes?=text --relative-date --count --cc`;

export const reads = (usage: string, judge: Spec["judge"] = revisions): Spec => ({
  usage: withOperands(usage),
  judge,
});

/** `git branch` without operands lists. */
const listsWithout =
  (listing: RegExp, what: string): Spec["judge"] =>
  ({ walk, name }, parsed) => {
    const isListing = parsed.given.some(({ rule }) => listing.test(rule.name));
    if (parsed.operands.length > 0 && !isListing)
      walk.report("write", "changes-repository", `${name} ${what}`);
  };

/** Sub-commands of git that only read, and the options with which some of them do not. */
export const gitReads: Family = {
  status: reads(
    "-[sbvzu] -u?=text --short --branch --porcelain?=text --long --verbose --untracked-files?=text --ignored?=text --no-renames --ahead-behind --show-stash --column?=text",
    undefined,
  ),
  "log show whatchanged rev-list": reads(logOptions),
  shortlog: reads("-[nsec] --numbered --summary --email --group=text --all --since=text --no-merges"),
  reflog: {
    ...reads(logOptions),
    judge: (call, parsed) => {
      if (/^(?:expire|delete|drop)$/.test(parsed.operands[0] ?? call.args[0] ?? ""))
        call.walk.report("destructive", "git-destroys", "git reflog deletes history");
      return revisions(call, parsed);
    },
  },
  diff: reads(`${diffOptions} --cached --staged --merge-base --no-index --base --ours --theirs`),
  "diff-tree": reads(`${diffOptions} -r -t --root --no-commit-id --stdin --always`),
  "diff-index": reads(`${diffOptions} --cached -m`),
  "diff-files range-diff": reads(diffOptions),
  blame: reads(
    "-[bcefklnstw] -L=text -M -C --date=text --porcelain --line-porcelain --since=text --contents=read -S=read --ignore-rev=text --ignore-revs-file=read --show-email --show-number --reverse",
  ),
  annotate: reads("-[bcefklnstw] -L=text"),
  describe: reads(
    "--tags --all --always --long --dirty?=text --abbrev=number --match=text --exclude=text --contains --exact-match --first-parent",
  ),
  "rev-parse": reads(
    "-q --abbrev-ref?=text --short?=number --verify --show-toplevel --show-prefix --git-dir --is-inside-work-tree --is-bare-repository --symbolic-full-name --all --branches --tags --absolute-git-dir --show-cdup --quiet",
  ),
  "ls-files": reads(
    "-[cdmoistuzv] -x=text --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --exclude=text --error-unmatch --full-name --eol --directory --deduplicate",
  ),
  "ls-tree": reads(
    "-[drtlz] --name-only --name-status --long --full-name --full-tree --abbrev?=number --object-only --format=text",
  ),
  "cat-file": reads("-[petsz] --batch-check --allow-unknown-type"),
  "for-each-ref": reads(
    "--sort=text --format=text --count=number --contains?=text --merged?=text --no-merged?=text --points-at=text",
  ),
  "merge-base": reads("-a --all --is-ancestor --octopus --fork-point"),
  "name-rev": reads("--tags --name-only --refs=text --always"),
  "show-ref": reads("-[dhqsv] --heads --tags --branches --head --verify --hash?=number"),
  "show-branch": reads("-[ar] --all --remotes --list"),
  cherry: reads("-v"),
  "count-objects": reads("-[vH] --verbose --human-readable"),
  "check-ignore": reads("-[vnqz] --verbose --no-index"),
  "check-attr": reads("-a --all"),
  "verify-pack": reads("-[vs]"),
  version: reads("--build-options"),
  grep: {
    usage:
      "-[aiIwvhHEGFPnlLzocpWq] -# -e=text -f=read -m=number -A=number -B=number -C=number --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --count --color?=text --no-color --break --heading --show-function --function-context --max-count=number --only-matching --and --or --not --all-match --quiet --cached --recursive --max-depth=number text...",
    judge: (call, parsed) => {
      const files = parsed.has("-e", "-f") ? parsed.operands : parsed.operands.slice(1);
      for (const path of files) call.walk.read(path.slice(path.indexOf(":") + 1), call.scope);
    },
  },
  branch: reads(
    "-[arvqil] -u=text!write -d!write -D!destructive -m!write -M!destructive -c!write -C!destructive -f!destructive --all --remotes --list --verbose --show-current --contains?=text --no-contains?=text --merged?=text --no-merged?=text --sort=text --format=text --points-at=text --color?=text --no-color --column?=text --no-column --delete!write --force!destructive --move!write --copy!write --set-upstream-to=text!write --unset-upstream!write --track!write --edit-description!execute",
    listsWithout(
      /^-[lar]$|^--(?:list|contains|no-contains|merged|no-merged|points-at|all|remotes)$/,
      "makes or moves a branch",
    ),
  ),
  tag: reads(
    "-[ln] -n?=number -a!write -s!execute -m=text!write -F=read!write -d!destructive -f!destructive --list --sort=text --format=text --contains?=text --points-at=text --merged?=text --no-merged?=text --delete!destructive --force!destructive --annotate!write --sign!execute --message=text!write",
    listsWithout(/^-[ln]$|^--(?:list|contains|points-at|merged|no-merged)$/, "makes a tag"),
  ),
};
