import { joinPath } from "../paths/resolve-path.ts";
import { address, bisect, checkout, fetches, push, setting, submodule } from "./git-actions.ts";
import { diffOptions, gitReads, logOptions, reads } from "./git-reads.ts";
import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family, type Judge, type Spec, withOperands } from "./spec.ts";

const writes = (usage = "", more: Partial<Spec> = {}): Spec => ({
  usage: withOperands(usage),
  does: "write changes-repository changes the repository",
  ...more,
});

/** What runs the hooks of the repository. */
const runsHooks = (usage = "", more: Partial<Spec> = {}): Spec => ({
  usage: withOperands(usage),
  does: "execute runs-hooks changes the repository, and runs its hooks",
  ...more,
});

const destroys = (what: string, more: Spec = {}): Spec => acts(`destructive git-destroys ${what}`, more);

const secondIsAddress: Judge = (call, { operands }) => address(call, operands[1] ?? "");

const subcommands: Family = {
  ...gitReads,
  remote: {
    usage: "-v --verbose text",
    commands: {
      "get-url": "--all --push text",
      add: writes("-f -t=text -m=text --tags --no-tags", { judge: secondIsAddress }),
      "set-url": writes("--push --add --delete", { judge: secondIsAddress }),
      "rename remove rm": writes(),
      "set-head": writes("-a -d"),
      show: writes("-n", { network: true }),
      update: runsHooks("-p --prune", { network: true }),
      prune: writes("-n", { network: true }),
    },
  },
  stash: {
    usage: "-[qku] -m=text --keep-index --include-untracked --message=text --staged text",
    judge: ({ walk, args }) => {
      if (args.length === 0 || args[0]?.startsWith("-") === true)
        walk.report("write", "changes-repository", "git stash changes the repository");
    },
    commands: {
      list: reads(logOptions),
      show: reads(`${diffOptions} --include-untracked --only-untracked`),
      push: writes(
        "-[qkup] -m=text --message=text --keep-index --include-untracked --staged --patch -a --all",
      ),
      save: writes("-[qku]"),
      "pop apply": writes("-q --index"),
      branch: writes(),
      drop: destroys("discards stashed changes"),
      clear: destroys("discards all stashed changes"),
    },
  },
  worktree: {
    commands: {
      list: "-[vz] --porcelain --verbose",
      add: runsHooks("-b=text -B=text -d -f --detach --force --checkout write text..."),
      remove: writes("-f!destructive --force!destructive delete"),
      prune: writes("-[nv] --dry-run"),
      move: writes(),
    },
  },
  notes: {
    commands: {
      "list show": reads(""),
      add: writes("-m=text -f"),
      append: writes("-m=text"),
      remove: writes(),
    },
  },
  bisect: acts("execute runs-hooks changes the repository", { judge: bisect }),
  submodule: acts("execute runs-hooks changes submodules", { judge: submodule }),
  config: {
    usage:
      "-[lze] -f=write --file=write --get --get-all --get-regexp --list --global --system --local --worktree --show-origin --show-scope --name-only --unset --unset-all --add --replace-all --type=text --bool --int --path --default=text --edit!execute --null text...",
    judge: setting,
  },
  push: {
    usage:
      "-[uqvn46] -f!destructive -d!destructive -o=text --set-upstream --force!destructive --force-with-lease?=text!destructive --force-if-includes!destructive --delete!destructive --mirror!destructive --prune!destructive --tags --follow-tags --all --branches --dry-run --no-verify --quiet --verbose --progress --atomic --porcelain --push-option=text --receive-pack=shell --exec=shell text...",
    does: "execute runs-hooks runs the hooks of the repository",
    judge: push,
  },
  pull: runsHooks(
    "-[rqvn] --rebase?=text --no-rebase --ff --ff-only --no-ff --autostash --tags --all --prune --quiet --verbose --depth=number --no-edit --squash --upload-pack=shell",
    { judge: fetches },
  ),
  fetch: runsHooks(
    "-[aptqvfnk] -j=number --all --prune --tags --no-tags --force --depth=number --unshallow --dry-run --quiet --verbose --upload-pack=shell --jobs=number --recurse-submodules?=text",
    { judge: fetches },
  ),
  clone: {
    usage:
      "-[qvnl] -b=text -o=text -u=shell -c=unknown -j=number --branch=text --depth=number --single-branch --no-single-branch --recurse-submodules?=text --recursive --bare --mirror --no-checkout --quiet --origin=text --upload-pack=shell --config=unknown --template=unknown --filter=text --sparse --no-tags --shallow-since=text --reference=read --jobs=number text write",
    does: "execute runs-hooks fetches a repository",
    judge: fetches,
  },
  "ls-remote": {
    usage:
      "-[htq] --heads --tags --branches --refs --exit-code --symref --get-url --sort=text --upload-pack=shell text...",
    does: "network network asks a repository elsewhere",
    judge: fetches,
  },
  add: runsHooks(
    "-[Aunfvp] --all --update --force --dry-run --verbose --intent-to-add --patch --chmod=text --renormalize read...",
  ),
  commit: runsHooks(
    "-[asvqnpe] -m=text -F=read -C=text -c=text -S?=text -u?=text --all --amend --no-edit --message=text --file=read --author=text --date=text --allow-empty --allow-empty-message --no-verify --signoff --quiet --verbose --dry-run --fixup=text --squash=text --no-gpg-sign --gpg-sign?=text --edit --reset-author --trailer=text",
  ),
  merge: runsHooks(
    "-[nqve] -m=text -s=text -X=text --no-ff --ff --ff-only --squash --no-commit --commit --abort --continue --quit --no-edit --edit --strategy=text --no-verify --stat --no-stat --allow-unrelated-histories",
  ),
  rebase: runsHooks(
    "-[iqvfp] -x=shell -s=text -X=text --interactive --onto=text --continue --abort --skip --quit --autostash --autosquash --no-verify --exec=shell --root --rebase-merges?=text --keep-empty --update-refs --no-autosquash",
  ),
  "cherry-pick": runsHooks(
    "-[nesx] -m=number -S?=text -X=text --no-commit --edit --signoff --continue --abort --skip --quit --allow-empty",
  ),
  revert: runsHooks("-[nes] -m=number --no-commit --no-edit --edit --continue --abort --skip --quit"),
  am: runsHooks("-[3ks] --3way --abort --continue --skip --signoff"),
  checkout: runsHooks(
    "-[bqdlt] -B!destructive -f!destructive --quiet --detach --track?=text --no-track --force!destructive --ours!destructive --theirs!destructive --orphan --patch!destructive -p!destructive --merge",
    { judge: checkout },
  ),
  switch: runsHooks(
    "-[cqdtm] -C!destructive -f!destructive --create --detach --guess --no-guess --track?=text --force!destructive --discard-changes!destructive --force-create!destructive --orphan --merge",
  ),
  restore: {
    usage: "-[SWqp] -s=text --staged --worktree --source=text --quiet --ours --theirs --patch write...",
    does: "write changes-repository changes the repository",
    judge: ({ walk }, parsed) => {
      if (!parsed.has("-S", "--staged") || parsed.has("-W", "--worktree"))
        walk.report("destructive", "git-destroys", "git restore discards changes");
    },
  },
  reset: writes(
    "-[qpN] --hard!destructive --merge!destructive --keep!destructive --soft --mixed --quiet --patch --no-refresh",
  ),
  clean: {
    usage: "-[fdxXqin] -e=text --force --dry-run --exclude=text --interactive --quiet write...",
    does: "destructive git-destroys deletes files that git does not track",
    unless: "-n --dry-run",
  },
  rm: "-[nq] -r!destructive -f!destructive --force!destructive --cached --dry-run --quiet --ignore-unmatch delete...",
  mv: writes("-[fknv] --force --dry-run --verbose write..."),
  apply: runsHooks(
    "-[Rv3N] -p=number -C=number --check --stat --numstat --summary --index --cached --3way --reverse --reject --whitespace=text --directory=text --include=text --exclude=text --unidiff-zero read...",
  ),
  archive:
    "-[lv] -o=write --format=text --output=write --prefix=text --remote=unknown --exec=shell -# text... => write writes packs files",
  init: runsHooks("-[q] -b=text --bare --initial-branch=text --quiet --shared?=text write"),
  gc: writes("--aggressive --auto --quiet --prune?=text!destructive"),
  prune: destroys("deletes history"),
  "filter-branch": destroys("rewrites history", {
    judge: ({ args, walk, scope }) => {
      args.forEach((arg, index) => {
        if (/^--[\w-]+-filter$/.test(args[index - 1] ?? "")) walk.script(arg, scope.fresh(), undefined);
      });
    },
  }),
  "filter-repo": destroys("rewrites history"),
  "update-ref": writes("-d!destructive --stdin!unknown --no-deref"),
  "symbolic-ref": writes("-[qd] --short"),
  "format-patch": writes("-o=write -# --stdout --cover-letter --signoff --numbered"),
  "sparse-checkout maintenance repack replace rerere update-index write-tree commit-tree hash-object mktree read-tree":
    writes(),
  credential: "=> unknown uses-keys shows passwords",
  "daemon instaweb": "=> exfiltration serves-files shows files to others",
  "send-email": "=> exfiltration sends-data sends commits away",
};

/** Git takes settings, and so programs to run, from the repository that it finds. */
const isInWorkspace = ({ walk, scope }: Call): boolean =>
  walk.workspace !== undefined && scope.directories?.length === 1 && scope.directories[0] === walk.workspace;

const checkRepository = (call: Call, parsed: Parsed): void => {
  const { walk, scope } = call;
  for (const path of parsed.values("-C")) {
    walk.list(path, scope);
    if (joinPath(scope.directories?.[0], path) !== walk.workspace)
      walk.unknown("other-repository", `git takes settings and programs from the repository in ${path}`);
  }
  if (parsed.operands.length > 0 && !isInWorkspace(call))
    walk.unknown("other-repository", "git takes settings and programs from a repository in another folder");
  for (const pair of parsed.values("-c", "--config-env")) {
    const value = pair.slice(pair.indexOf("=") + 1);
    walk.unknown("sets-command", `git is given the setting ${pair.split("=")[0]}`);
    if (value.startsWith("!")) walk.script(value.slice(1), scope.fresh(), undefined);
    else
      walk.suspect(() => {
        walk.script(value, scope.fresh(), undefined);
        if (/^alias\./i.test(pair)) walk.script(`git ${value}`, scope.fresh(), undefined);
      });
  }
};

/** Version control. */
export const git: Family = {
  "git hub": {
    usage:
      "-p --no-pager --paginate --version --no-optional-locks --literal-pathspecs --no-replace-objects -C=text -c=text --config-env=text --git-dir=unknown --work-tree=unknown --exec-path=unknown --namespace=unknown",
    before: checkRepository,
    commands: subcommands,
  },
  "git-lfs tig gitk": "=> unknown unknown-option may change the repository",
};
