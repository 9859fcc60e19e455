import type { Call, Program } from "../call.ts";
import { shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const quoted = (arg: string): string => `'${arg.replaceAll("'", "'\\''")}'`;

/** Follows a script of package.json with those before and after it; false where it is not known. */
const followScript = (call: Call, script: string, args: readonly string[]): boolean => {
  const { packageScripts } = call.run.lists;
  const text =
    packageScripts !== undefined && Object.hasOwn(packageScripts, script)
      ? packageScripts[script]
      : undefined;
  if (text === undefined || packageScripts === undefined) return false;
  for (const hook of [`pre${script}`, `post${script}`]) {
    if (Object.hasOwn(packageScripts, hook))
      call.run.script(packageScripts[hook] ?? "", call.state.clone(), undefined);
  }
  call.run.script([text, ...args.map(quoted)].join(" "), call.state.clone(), call.stdin);
  return true;
};

const runScript = (call: Call, script: string | undefined, args: readonly string[]): undefined => {
  if (script === undefined) return undefined;
  if (!followScript(call, script, args[0] === "--" ? args.slice(1) : args))
    call.run.report(
      "unknown",
      "package-script",
      `${call.name} runs the script ${shown(script)}, whose text is not known`,
    );
  return undefined;
};

const looks =
  /^(?:ls|list|ll|la|view|info|show|outdated|why|explain|search|root|bin|prefix|help|doctor|ping|fund|query|licenses|version|versions|find-dupes|check|freeze|--version|-v|env)$/;

/** Runs a package by its name: what it does is known where its program is. */
const runPackage = (call: Call, args: readonly string[]): undefined => {
  const options = readOptions(args, "p package c call w workspace", true);
  const { run, state, stdin } = call;
  for (const text of options.values("c", "call")) run.script(text, state.clone(), stdin);
  const [program = "", ...rest] = options.operands;
  const name = program.replace(/(.)@[^/]*$/, "$1").replace(/^@[^/]+\//, "");
  if (program !== "") run.exec([name, ...rest], state.clone(), stdin);
  return undefined;
};

const node: Program = (call) => {
  const { run, name } = call;
  const options = readOptions(
    call.args,
    "C F w prefix filter workspace dir cwd loglevel registry userconfig",
    true,
  );
  const [command, ...rest] = options.operands;
  if (command === undefined) {
    if (name === "yarn" && call.args.length === 0)
      run.report("write", "installs", "yarn installs packages and runs their scripts");
    return undefined;
  }
  if (looks.test(command)) return undefined;
  if (/^(?:run|run-script|rum|urn)$/.test(command)) {
    const words = readOptions(rest, "w workspace F filter", true).operands;
    return runScript(call, words[0], words.slice(1));
  }
  if (/^(?:test|t|tst|start|stop|restart)$/.test(command))
    return runScript(call, command.startsWith("t") ? "test" : command, rest);
  if (/^(?:exec|x|dlx)$/.test(command)) return runPackage(call, rest[0] === "--" ? rest.slice(1) : rest);
  if (
    /^(?:publish|unpublish|deprecate|owner|access|token|login|adduser|logout|dist-tag|profile|team|org|hook|star)$/.test(
      command,
    )
  ) {
    run.noteNetwork();
    if (command === "publish")
      run.report("exfiltration", "sends-data", `${name} publish shows files to everybody`);
    else if (command === "unpublish")
      run.report("destructive", "deletes", `${name} unpublish deletes a package for everybody`);
    else run.report("unknown", "uses-keys", `${name} ${command} uses credentials`);
    return undefined;
  }
  if (command === "config" || command === "c" || command === "set" || command === "get") {
    const sets = command === "set" || /^(?:set|delete|edit|rm)$/.test(rest[0] ?? "");
    if (sets) run.report("write", "changes-things", `${name} changes its settings`);
    if (sets && /script-shell|node-options|onload-script|globalconfig|git|shell/.test(rest.join(" ")))
      run.report("unknown", "loads-code", `${name} is told to run something else`);
    return undefined;
  }
  if (
    /^(?:i|in|install|isntall|add|ci|clean-install|install-test|it|update|up|upgrade|remove|rm|r|un|uninstall|unlink|link|ln|dedupe|ddp|prune|rebuild|rb|audit|init|create|innit|pack|cache|set-script|shrinkwrap|version|import|patch|patch-commit|store|approve-builds|fetch|deploy|workspaces|workspace)$/.test(
      command,
    )
  ) {
    run.report("write", "installs", `${name} ${command} changes packages, and may run their scripts`);
    if (/^(?:i|install|add|ci|update|up|upgrade|init|create|audit)$/.test(command)) run.noteNetwork();
    return undefined;
  }
  if (name === "npm") {
    run.report("unknown", "unknown-program", `it is not known what npm ${shown(command)} does`);
    return undefined;
  }
  // The others take the name of a script or of a program without a word before it.
  if (!followScript(call, command, rest)) run.exec([command, ...rest], call.state.clone(), call.stdin);
  return undefined;
};

const npx: Program = (call) => {
  call.run.report("write", "installs", `${call.name} may fetch a package before it runs it`);
  return runPackage(call, call.args);
};

/** Managers of packages of other languages and of the system. */
const manager: Program = (call) => {
  const { run, name } = call;
  const options = readOptions(call.args, "r i e c index-url extra-index-url requirement target t", true);
  const command = options.operands[0];
  if (
    command === undefined ||
    looks.test(command) ||
    /^(?:policy|depends|rdepends|showpkg|status|deps|provides|repolist|files|cat|home|leaves|desc|info|metadata|tree)$/.test(
      command,
    )
  )
    return undefined;
  if (/^(?:publish|upload|push|login|yank)$/.test(command)) {
    run.noteNetwork();
    run.report("exfiltration", "sends-data", `${name} ${command} shows files to everybody`);
    return undefined;
  }
  if (/^(?:exec|run|x|tool)$/.test(command)) {
    const words = options.operands.slice(1);
    const rest = readOptions(
      words[0] === "run" ? words.slice(1) : words,
      "with python p n name C from",
      true,
    ).operands;
    if (rest.length > 0) run.exec(rest, call.state.clone(), call.stdin);
    return undefined;
  }
  if (
    /^(?:autoremove|purge|remove|erase|uninstall|clean)$/.test(command) &&
    /^(?:apt|apt-get|dnf|yum|zypper|pacman|apk)$/.test(name)
  )
    run.report("destructive", "removes-system-packages", `${name} takes parts of the system away`);
  if (/^(?:apt|apt-get|aptitude|dnf|yum|zypper|apk|snap|port|emerge|pkg)$/.test(name))
    run.report("privilege", "system-packages", `${name} ${command} changes the packages of the system`);
  run.noteNetwork();
  run.report("write", "installs", `${name} ${shown(command)} changes packages, and may run their code`);
  return undefined;
};

const lowLevel: Program = ({ run, args, name }) => {
  if (
    args.some((arg) =>
      /^(?:-[lLsSpWV]|-q\w*|-Q\w*|--list.*|--status|--query|--search|--verify|-S[si]\w*)$/.test(arg),
    )
  )
    return undefined;
  if (args.some((arg) => /^(?:-r|-P|-e|-R\w*|--purge|--remove|--erase)$/.test(arg)))
    run.report("destructive", "removes-system-packages", `${name} takes parts of the system away`);
  run.report("privilege", "system-packages", `${name} changes the packages of the system`);
  return undefined;
};

export const packagePrograms = [
  ...entries("npm pnpm yarn cnpm", node),
  ...entries("npx pnpx bunx yarnx uvx", npx),
  ...entries(
    "pip pipx uv poetry pipenv conda mamba gem bundle bundler composer brew nix-env apt apt-get aptitude dnf yum zypper apk snap port emerge pkg flatpak cabal stack opam luarocks cpan cpanm rustup nvm fnm volta asdf mise rbenv pyenv pdm hatch rye twine",
    manager,
  ),
  ...entries("dpkg rpm pacman", lowLevel),
];
