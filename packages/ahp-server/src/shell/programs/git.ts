import type { Call, Program } from "../call.ts";
import { isData, isUnknown, shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { joinPath } from "../resolve-path.ts";
import { entries } from "./program-entry.ts";
import { namesBelow } from "./readers.ts";

/** Settings whose value git runs as a command. */
const commandSetting =
  /^(?:alias\..*|core\.(?:editor|pager|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|pager\..*|diff\.(?:external|.*\.(?:command|textconv))|difftool\..*|mergetool\..*|merge\..*\.driver|filter\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|interactive\.difffilter|uploadpack\..*|remote\..*\.(?:vcs|uploadpack|receivepack)|sendemail\..*cmd|browser\..*|man\..*|trailer\..*|protocol\..*|ssh\.variant)$/i;

const setting = (call: Call, name: string, value: string): void => {
  const { run, state, stdin } = call;
  if (/^(?:core\.hookspath|include(?:if)?\..*|core\.attributesfile|core\.worktree)$/i.test(name))
    run.report("unknown", "loads-code", `git is told to take code from ${shown(value)}`);
  if (isUnknown(name)) run.report("unknown", "unknown-arguments", "a setting of git is not known");
  if (
    !commandSetting.test(name) ||
    /^(?:cat|less.*|more|true|vim?|nano|store|cache|osxkeychain|manager|)$/.test(value)
  )
    return;
  run.report("write", "sets-command", `${name} is a command that git runs`);
  if (/^alias\./i.test(name) && !value.startsWith("!")) run.script(`git ${value}`, state.clone(), stdin);
  else run.script(value.replace(/^!/, ""), state.clone(), stdin);
};

const reads =
  /^(?:status|log|diff|show|blame|annotate|shortlog|describe|rev-parse|rev-list|ls-files|ls-tree|cat-file|grep|reflog|for-each-ref|name-rev|merge-base|diff-tree|diff-index|diff-files|whatchanged|count-objects|fsck|verify-commit|verify-tag|check-ignore|check-attr|var|version|help|show-ref|show-branch|cherry|range-diff|get-tar-commit-id|column|stripspace|ls-remote|bugreport|diagnose)$/;

const lists: Readonly<Record<string, RegExp>> = {
  branch:
    /^(?:-[avrl]+|--list|--show-current|--merged|--no-merged|--contains|-vv|--sort=.*|--format=.*|--all)$/,
  tag: /^(?:-l|--list|-n\d*|--sort=.*|--contains|--points-at)$/,
  remote: /^(?:-v|--verbose|get-url)$/,
  stash: /^(?:list|show)$/,
  worktree: /^list$/,
  submodule: /^(?:status|summary)$/,
  config: /^(?:--get.*|--list|-l|get|list|--show-.*)$/,
  notes: /^(?:list|show)$/,
  bisect: /^(?:log|view|visualize)$/,
};

const isOnlyListing = (command: string, args: readonly string[]): boolean => {
  const pattern = lists[command];
  if (pattern === undefined) return false;
  if (args.length === 0) return command !== "stash" && command !== "submodule";
  // `remote -v update` is no list.
  if (command === "remote" && args[0] !== "get-url") return args.every((arg) => pattern.test(arg));
  return command === "branch" || command === "tag"
    ? args.every((arg) => pattern.test(arg))
    : pattern.test(args[0] ?? "");
};

const destroys = ({ run }: Call, what: string): void => {
  run.report("destructive", "git-destroys", `git ${what}`);
};

/** `ext::program arguments`: an address that is a command; `% ` is a space within an argument. */
const runTransport = (call: Call, address: string): void => {
  if (!address.startsWith("ext::")) return;
  const words = address
    .slice(5)
    .split(/(?<!%) /)
    .map((word) => word.replaceAll("% ", " "));
  call.run.exec(words, call.state.clone(), undefined);
};

const push = (call: Call, args: readonly string[]): void => {
  const options = readOptions(args, "o push-option repo receive-pack exec");
  const { run, state, stdin } = call;
  run.noteNetwork();
  run.report("write", "network", "git push changes a repository elsewhere");
  const [remote = "", ...refs] = options.operands;
  const deletes = options.has("d", "delete", "mirror", "prune") || refs.some((ref) => ref.startsWith(":"));
  if (
    options.has("f", "force", "force-with-lease", "force-if-includes") ||
    refs.some((ref) => ref.startsWith("+"))
  )
    destroys(call, "push --force overwrites what others have");
  if (deletes) destroys(call, "push deletes branches elsewhere");
  if (/:|^\/|^\.\.?\//.test(remote))
    run.report("exfiltration", "sends-data", `git pushes to the address ${shown(remote)}`);
  if (options.uncertain) run.report("unknown", "unknown-arguments", "it is not known what git pushes where");
  for (const text of options.values("receive-pack", "exec")) run.script(text, state.clone(), stdin);
  if (isData(args.join("")))
    run.report("unknown", "unknown-arguments", "it is not known what git pushes where");
};

type Subcommand = (call: Call, args: readonly string[]) => void;

const subcommands: Readonly<Record<string, Subcommand>> = {
  push,
  reset: (call, args) => {
    if (readOptions(args).has("hard", "merge", "keep")) destroys(call, "reset --hard throws away changes");
  },
  clean: (call, args) => {
    if (!readOptions(args, "e exclude").has("n", "dry-run"))
      destroys(call, "clean deletes files that it does not know");
  },
  checkout: (call, args) => {
    const options = readOptions(args, "b B orphan conflict");
    if (options.has("f", "force", "B") || args.includes("--") || options.operands.includes("."))
      destroys(call, "checkout throws away changes");
  },
  fetch: (call, args) => {
    for (const text of readOptions(args, "upload-pack j jobs depth o").values("upload-pack"))
      call.run.script(text, call.state.clone(), undefined);
    for (const arg of args) runTransport(call, arg);
  },
  pull: (call, args) => {
    for (const arg of args) runTransport(call, arg);
  },
  switch: (call, args) => {
    if (readOptions(args, "c C").has("f", "force", "discard-changes", "C"))
      destroys(call, "switch throws away changes");
  },
  restore: (call, args) => {
    const options = readOptions(args, "s source");
    if (!options.has("S", "staged") || options.has("W", "worktree"))
      destroys(call, "restore throws away changes");
  },
  branch: (call, args) => {
    const options = readOptions(args, "u set-upstream-to");
    if (
      options.has("D") ||
      (options.has("d", "delete") && options.has("f", "force")) ||
      options.has("M", "f", "force")
    )
      destroys(call, "branch throws away a branch");
  },
  tag: (call, args) => {
    if (readOptions(args, "m F u").has("d", "delete", "f", "force"))
      destroys(call, "tag deletes or moves a tag");
  },
  stash: (call, args) => {
    if (/^(?:drop|clear)$/.test(args[0] ?? "")) destroys(call, "stash throws away changes");
  },
  reflog: (call, args) => {
    if (/^(?:expire|delete)$/.test(args[0] ?? "")) destroys(call, "reflog throws away history");
  },
  gc: (call, args) => {
    if (args.some((arg) => arg.startsWith("--prune"))) destroys(call, "gc --prune throws away history");
  },
  prune: (call) => destroys(call, "prune throws away history"),
  "filter-branch": (call, args) => {
    destroys(call, "filter-branch rewrites history");
    args.forEach((arg, index) => {
      if (/^--(?:tree|index|msg|env|commit|parent|tag-name)-filter$/.test(args[index - 1] ?? ""))
        call.run.script(arg, call.state.clone(), undefined);
    });
  },
  "filter-repo": (call) => destroys(call, "filter-repo rewrites history"),
  "update-ref": (call, args) => {
    if (args.includes("-d")) destroys(call, "update-ref deletes a branch");
  },
  rm: (call, args) => {
    const options = readOptions(args);
    for (const path of options.operands) call.run.write(path, call.state);
    if (!options.has("cached") && options.has("r", "f", "force")) destroys(call, "rm deletes files");
  },
  worktree: (call, args) => {
    if (args[0] === "remove" && /^-f|--force/.test(args[1] ?? ""))
      destroys(call, "worktree remove --force throws away changes");
  },
  rebase: (call, args) => {
    for (const text of readOptions(args, "x exec onto s X").values("x", "exec"))
      call.run.script(text, call.state.clone(), undefined);
  },
  bisect: (call, args) => {
    if (args[0] === "run") call.run.exec(args.slice(1), call.state.clone(), call.stdin);
  },
  submodule: (call, args) => {
    const at = args.indexOf("foreach");
    if (at !== -1)
      call.run.script(
        args
          .slice(at + 1)
          .filter((arg) => arg !== "--recursive" && arg !== "--quiet")
          .join(" "),
        call.state.clone(),
        undefined,
      );
    if (args[0] === "deinit" && args.includes("-f"))
      destroys(call, "submodule deinit -f throws away changes");
  },
  config: (call, args) => {
    const options = readOptions(args, "f file blob type");
    const [name = "", value = ""] =
      options.operands[0] === "set" ? options.operands.slice(1) : options.operands;
    setting(call, name, value);
    if (options.has("global", "system"))
      call.run.report("write", "persists", "it changes the settings of git for every repository");
  },
  clone: (call, args) => {
    const options = readOptions(
      args,
      "b o u c j branch origin upload-pack config depth template reference jobs filter",
    );
    call.run.noteNetwork();
    for (const text of options.values("u", "upload-pack"))
      call.run.script(text, call.state.clone(), undefined);
    for (const pair of options.values("c", "config"))
      setting(call, pair.split("=")[0] ?? "", pair.slice(pair.indexOf("=") + 1));
    const [source = "", target] = options.operands;
    runTransport(call, source);
    if (isData(source))
      call.run.report("exfiltration", "sends-data", "git puts what a program printed into an address");
    if (target !== undefined) call.run.write(target, call.state);
  },
  apply: (call, args) => {
    for (const path of readOptions(args, "p C directory exclude").operands) call.run.read(path, call.state);
  },
  grep: (call, args) => {
    const at = args.findIndex((arg) => /^(?:-O|--open-files-in-pager)/.test(arg));
    const program = /^(?:-O|--open-files-in-pager=)(.+)/.exec(args[at] ?? "")?.[1];
    if (program !== undefined) call.run.script(program, call.state.clone(), undefined);
  },
  difftool: (call, args) => {
    for (const text of readOptions(args, "x t extcmd tool").values("x", "extcmd"))
      call.run.script(text, call.state.clone(), undefined);
  },
  archive: (call, args) => {
    const options = readOptions(args, "o output format prefix remote exec");
    for (const address of options.values("remote")) runTransport(call, address);
    for (const path of options.values("o", "output")) call.run.write(path, call.state);
    for (const text of options.values("exec")) call.run.script(text, call.state.clone(), undefined);
  },
  "ls-remote": (call, args) => {
    call.run.noteNetwork();
    const options = readOptions(args, "upload-pack sort o");
    for (const text of options.values("upload-pack")) call.run.script(text, call.state.clone(), undefined);
    runTransport(call, options.operands[0] ?? "");
    call.run.report("write", "network", "git asks a repository elsewhere");
  },
};

const known =
  /^(?:add|am|apply|archive|bisect|branch|bundle|checkout|cherry-pick|clean|clone|commit|config|difftool|fetch|filter-branch|filter-repo|format-patch|gc|init|maintenance|merge|mergetool|mv|notes|prune|pull|push|rebase|reflog|remote|repack|replace|rerere|reset|restore|revert|rm|sparse-checkout|stash|submodule|switch|tag|update-index|update-ref|worktree|write-tree|commit-tree|hash-object|mktree|read-tree|symbolic-ref|lfs|credential|daemon|send-email|svn|p4|subtree|fast-import|fast-export|pack-objects|unpack-objects|index-pack|request-pull|instaweb)$/;

const runSubcommand = (call: Call, command: string, args: readonly string[]): string | undefined => {
  const { run, state } = call;
  subcommands[command]?.(call, args);
  for (const arg of args) {
    const output = /^--output=(.*)$/.exec(arg)?.[1];
    if (output !== undefined) run.write(output, state);
    if (/^--(?:ext-diff|textconv|filters|show-signature)$/.test(arg))
      run.report("write", "sets-command", "git runs the commands of its settings");
  }
  if (command === "blame" || command === "annotate")
    for (const path of readOptions(args, "L S M C date contents ignore-revs-file").values(
      "S",
      "contents",
      "ignore-revs-file",
    ))
      run.read(path, state);
  if (command === "remote" && /^(?:show|update|prune)$/.test(args.find((arg) => !arg.startsWith("-")) ?? ""))
    run.noteNetwork();
  if (
    /^verify-(?:commit|tag)$/.test(command) ||
    (command === "help" && args.some((arg) => /^-\w*w|^--web/.test(arg)))
  )
    run.report("write", "sets-command", "git runs the commands of its settings");
  if (/^(?:diff|grep)$/.test(command) && args.includes("--no-index"))
    for (const path of args.filter((arg) => !arg.startsWith("-"))) run.read(path, state);
  // What stands after -- are paths; `HEAD:.env` is a path as well.
  const paths = args.slice(args.indexOf("--") === -1 ? args.length : args.indexOf("--") + 1);
  for (const path of paths) run.read(path, state);
  for (const arg of args)
    if (/^[^:/]*:[^:]+$/.test(arg) && /^(?:show|cat-file|diff)$/.test(command))
      run.read(arg.slice(arg.indexOf(":") + 1), state);
  if (isOnlyListing(command, args) || (reads.test(command) && subcommands[command] === undefined)) {
    return command === "ls-files" ? namesBelow([]) : undefined;
  }
  if (/^(?:grep|reflog|ls-remote)$/.test(command)) return undefined;
  if (/^(?:fetch|pull|send-email|daemon|instaweb|svn|p4|lfs|request-pull)$/.test(command)) run.noteNetwork();
  if (/^(?:daemon|instaweb|send-email)$/.test(command))
    run.report("exfiltration", "serves-files", `git ${command} shows files to others`);
  if (command === "credential") run.report("unknown", "uses-keys", "git credential shows passwords");
  if (known.test(command)) run.report("write", "changes-repository", `git ${command} changes the repository`);
  else run.report("unknown", "unknown-program", `it is not known what git ${shown(command)} does`);
  return undefined;
};

const git: Program = (call) => {
  const { run, state } = call;
  let rest = [...call.args];
  const inside = state.clone();
  const aliases = new Map<string, string>();
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    if (next === "-C") {
      const path = rest.shift() ?? "";
      run.read(path, inside);
      inside.directories = inside.directories?.map((directory) => joinPath(directory, path) ?? directory);
    } else if (next === "-c" || next === "--config-env") {
      const pair = rest.shift() ?? "";
      const at = pair.indexOf("=");
      const name = at === -1 ? pair : pair.slice(0, at);
      const value = at === -1 ? "" : pair.slice(at + 1);
      if (next === "--config-env")
        run.report("unknown", "unknown-arguments", "a setting of git is not known");
      setting({ ...call, state: inside }, name, value);
      if (/^alias\./i.test(name)) aliases.set(name.slice(6), value);
    } else if (/^--(?:git-dir|work-tree|exec-path|namespace|super-prefix|attr-source)(?:=|$)/.test(next)) {
      const value = next.includes("=") ? next.slice(next.indexOf("=") + 1) : (rest.shift() ?? "");
      if (next.startsWith("--exec-path") && value !== "")
        run.report("unknown", "search-path", "git is told where its programs are");
      else run.read(value, inside);
    } else if (next.startsWith("--config-env=")) {
      run.report("unknown", "unknown-arguments", "a setting of git is not known");
    } else if (/^-/.test(next)) continue;
    else if (isUnknown(next)) {
      run.report("unknown", "unknown-arguments", "it is not known what git does");
      rest = [];
    } else {
      const alias = aliases.get(next);
      if (alias !== undefined) {
        if (!alias.startsWith("!"))
          run.script(
            `git ${alias} ${rest.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(" ")}`,
            inside,
            call.stdin,
          );
        return undefined;
      }
      return runSubcommand({ ...call, state: inside }, next, rest);
    }
  }
  return undefined;
};

export const gitPrograms = [
  ...entries("git hub", git),
  ...entries("git-lfs tig gitk", ({ run, name }) => {
    run.report("write", "changes-repository", `${name} may change the repository`);
    return undefined;
  }),
];
