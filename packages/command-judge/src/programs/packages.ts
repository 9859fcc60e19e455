import { isUnknown, unknownMark } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import { acts, byArguments, type Call, type Does, type Family, type Spec } from "./spec.ts";

const installs: Spec = acts("execute installs changes packages, and may run their scripts", {
  network: true,
});
const runsScripts: Spec = acts("unknown package-script runs a script whose content is not checked");
const publishes: Spec = acts("exfiltration sends-data publishes files", { network: true });
const usesKeys: Spec = acts("unknown uses-keys uses or changes credentials", { network: true });
const removes: Spec = acts("destructive deletes deletes a published package", { network: true });
const asks = (options: string): Spec => ({
  usage: `${options} text...`,
  judge: (call, { operands }) => {
    noteHost(call, operands.find(isUnknown) ?? "the registry");
  },
});

/** Runs a package's program by its name: the workspace, or a registry, has the program. */
const runsPackage = (options: string): Spec => ({
  style: "posix",
  usage: `${options} text...`,
  does: "execute runs-package runs a program of a package",
  judge: ({ walk, scope }: Call, parsed: Parsed) => {
    const words = parsed.operands[0] === "--" ? parsed.operands.slice(1) : parsed.operands;
    const [program = unknownMark, ...args] = words;
    const name = program.replace(/(.)@[^/]*$/, "$1").replace(/^@[^/]+\//, "");
    if (words.length > 0) walk.run([name, ...args], scope, undefined);
  },
});

const npmCommands: Family = {
  "ls list ll la":
    "-[agl] --all --depth=number --json --long --global --prod --dev --parseable --omit=text --include=text text...",
  "view info show v": asks("--json"),
  "search outdated ping": asks("--json --long -[lg] --depth=number --global"),
  "explain why": "--json text...",
  "root bin prefix": "-g text...",
  "run run-script rum urn test t tst start stop restart": runsScripts,
  "exec x": runsPackage(
    "-[y] -p=text -c=shell -w=text --yes --no --package=text --call=shell --workspace=text",
  ),
  "install i in isntall add ci clean-install install-test it update up upgrade remove rm r un uninstall unlink link ln dedupe ddp prune rebuild rb audit init create innit pack version":
    installs,
  publish: publishes,
  unpublish: removes,
  "deprecate owner access token login adduser logout dist-tag profile team org hook config set get cache":
    usesKeys,
};

/** The first operand is a command, or the name of a script or of a program of the workspace. */
const manager = ({ walk, scope }: Call, parsed: Parsed): void => {
  const [command = "install", ...args] = parsed.operands;
  walk.report("execute", "runs-package", "it runs what the workspace names");
  if (/^(?:publish|npm)$/.test(command)) walk.report("exfiltration", "sends-data", "it publishes files");
  else if (/^(?:unpublish)$/.test(command))
    walk.report("destructive", "deletes", "it deletes a published package");
  else if (/^(?:exec|x|dlx|run)$/.test(command)) {
    const words = args.filter((arg, index) => arg !== "--" || index > 0);
    if (command === "run")
      walk.unknown("package-script", `it runs the script ${words[0]}, whose content is not checked`);
    else if (words.length > 0) walk.run(words, scope, undefined);
  } else if (
    !/^(?:i|install|add|remove|rm|update|up|ls|list|why|info|view|outdated|init|create|audit|store|link|unlink|import|rebuild|prune|dedupe|version|pack|import|patch|help)$/.test(
      command,
    )
  )
    walk.unknown("package-script", `it runs ${command}, a script or a program of the workspace`);
};

const changes: Does = "privilege changes-system changes programs of this machine";
const looks =
  "(?:(?:list|show|search|policy|info|depends|rdepends|madison|showpkg|deps|leaves|provides|repolist)(?: [^\\s-]\\S*| --installed| --upgradable)*)";

/** Managers of the system's packages; `queries` are further arguments with which one only looks at what is installed. */
const systemPackages = (queries = "(?!)"): Spec => ({
  style: "words",
  judge: byArguments([new RegExp(`^(?!${looks}$|(?:${queries})$)`), changes]),
});

/** Managers of packages. */
export const packages: Family = {
  npm: {
    usage:
      "-[sgv] --silent --prefix=unknown -C=unknown -w=text --workspace=text --workspaces --version --loglevel=text --no-audit --no-fund",
    commands: npmCommands,
  },
  "pnpm yarn bun": {
    style: "posix",
    usage: "-[rsw] -C=unknown -F=text --filter=text --silent --recursive text...",
    judge: manager,
  },
  "npx pnpx bunx uvx": runsPackage(
    "-[yq] -p=text -c=shell --yes --no --no-install --package=text --call=shell --quiet",
  ),
  "pip pip3": {
    usage: "-[qv] --version --disable-pip-version-check",
    commands: {
      list: "--format=text -u!network --uptodate!network -o!network --outdated!network text...",
      show: "-f --files --verbose text...",
      check: "text...",
      "install uninstall download wheel": installs,
    },
  },
  "poetry pipenv uv rye hatch conda mamba bundle gem composer": {
    style: "posix",
    usage: "-[qv] --quiet --version text...",
    does: "execute runs-package runs what the workspace or a registry names",
    judge: ({ walk, scope, name }, { operands }) => {
      const [command = "", ...rest] = operands;
      const words = command === "tool" ? rest.slice(1) : rest;
      if (/^(?:run|exec|x|tool)$/.test(command) && words.length > 0)
        walk.run(words[0] === "--" ? words.slice(1) : words, scope, undefined);
      else if (/^(?:publish|upload|push|yank)$/.test(command))
        walk.report("exfiltration", "sends-data", `${name} publishes files`);
    },
  },
  twine: publishes,
  "apt apt-get aptitude apk emerge": systemPackages(),
  "dnf yum zypper snap brew port flatpak": {
    style: "words",
    judge: byArguments([new RegExp(`^${looks}$`), "network network may ask a registry"], [/^/, changes]),
  },
  dpkg: systemPackages("(?:-[lLsSp]|--list)(?: [^\\s-]\\S*)*"),
  rpm: systemPackages("-q[ailf]*(?: [^\\s-]\\S*)*"),
  pacman: systemPackages("-Q[ilsq]*(?: [^\\s-]\\S*)*"),
  "apt-cache dpkg-query": "-[lLsSW] text...",
};
