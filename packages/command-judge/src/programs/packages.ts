import { isUnknown, unknownMark } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family, type Spec } from "./spec.ts";

const installs: Spec = acts("execute", "installs", "changes packages, and may run their scripts", {
  network: true,
});
const runsScripts: Spec = acts("unknown", "package-script", "runs a script whose text is not looked at");
const publishes: Spec = acts("exfiltration", "sends-data", "publishes files", { network: true });
const usesKeys: Spec = acts("unknown", "uses-keys", "uses or changes credentials", { network: true });
const removes: Spec = acts("destructive", "deletes", "deletes a published package", { network: true });
const shows = (options: string): Spec => ({ options, operands: "text..." });
const asks = (options: string): Spec => ({
  options,
  operands: "text...",
  judge: (call, { operands }) => {
    noteHost(call, operands.find(isUnknown) ?? "the registry");
    return undefined;
  },
});

/** Runs a package's program by its name: the workspace, or a registry, has the program. */
const runsPackage = (options: string): Spec => ({
  style: "posix",
  options,
  operands: "text...",
  does: ["execute", "runs-package", "runs a program of a package"],
  judge: ({ walk, scope }: Call, parsed: Parsed) => {
    for (const text of parsed.values("-c", "--call")) walk.script(text, scope.fresh(), undefined);
    const words = parsed.operands[0] === "--" ? parsed.operands.slice(1) : parsed.operands;
    const [program = unknownMark, ...args] = words;
    const name = program.replace(/(.)@[^/]*$/, "$1").replace(/^@[^/]+\//, "");
    if (words.length > 0) walk.run([name, ...args], scope, undefined);
    return undefined;
  },
});

const named = (names: string, spec: Spec): Record<string, Spec> =>
  Object.fromEntries(names.split(" ").map((name) => [name, spec]));

const npmCommands: Readonly<Record<string, Spec>> = {
  ...named(
    "ls list ll la",
    shows(
      "-[agl] --all --depth=number --json --long --global --prod --dev --parseable --omit=text --include=text",
    ),
  ),
  ...named("view info show v", asks("--json")),
  ...named("search outdated ping", asks("--json --long -[lg] --depth=number --global")),
  ...named("explain why", shows("--json")),
  ...named("root bin prefix", shows("-g")),
  ...named("run run-script rum urn test t tst start stop restart", runsScripts),
  ...named(
    "exec x",
    runsPackage("-[y] -p=text -c=text -w=text --yes --no --package=text --call=text --workspace=text"),
  ),
  ...named(
    "install i in isntall add ci clean-install install-test it update up upgrade remove rm r un uninstall unlink link ln dedupe ddp prune rebuild rb audit init create innit pack version",
    installs,
  ),
  publish: publishes,
  unpublish: removes,
  ...named(
    "deprecate owner access token login adduser logout dist-tag profile team org hook config set get cache",
    usesKeys,
  ),
};

/** The first operand is a command, or the name of a script or of a program of the workspace. */
const manager = ({ walk, scope }: Call, parsed: Parsed): undefined => {
  const [command = "install", ...args] = parsed.operands;
  walk.report("execute", "runs-package", "it runs what the workspace names");
  if (/^(?:publish|npm)$/.test(command)) walk.report("exfiltration", "sends-data", "it publishes files");
  else if (/^(?:unpublish)$/.test(command))
    walk.report("destructive", "deletes", "it deletes a published package");
  else if (/^(?:exec|x|dlx|run)$/.test(command)) {
    const words = args.filter((arg, index) => arg !== "--" || index > 0);
    if (command === "run")
      walk.unknown("package-script", `it runs the script ${words[0]}, whose text is not looked at`);
    else if (words.length > 0) walk.run(words, scope, undefined);
  } else if (
    !/^(?:i|install|add|remove|rm|update|up|ls|list|why|info|view|outdated|init|create|audit|store|link|unlink|import|rebuild|prune|dedupe|version|pack|import|patch|help)$/.test(
      command,
    )
  )
    walk.unknown("package-script", `it runs ${command}, a script or a program of the workspace`);
};

/** First words with which a manager only looks at what is installed. */
const queries: Readonly<Record<string, RegExp>> = {
  dpkg: /^-[lLsSp]$|^--list$/,
  rpm: /^-q[ailf]*$/,
  pacman: /^-Q[ilsq]*$/,
};

/** Managers of packages. */
export const packages: Family = {
  npm: {
    options:
      "-[sgv] --silent --prefix=unknown -C=unknown -w=text --workspace=text --workspaces --version --loglevel=text --no-audit --no-fund",
    commands: npmCommands,
  },
  "pnpm yarn bun": {
    style: "posix",
    options: "-[rsw] -C=unknown -F=text --filter=text --silent --recursive",
    operands: "text...",
    judge: manager,
  },
  "npx pnpx bunx uvx": runsPackage(
    "-[yq] -p=text -c=text --yes --no --no-install --package=text --call=text --quiet",
  ),
  "pip pip3": {
    options: "-[qv] --version --disable-pip-version-check",
    commands: {
      list: shows("--format=text -u!network --uptodate!network -o!network --outdated!network"),
      show: shows("-f --files --verbose"),
      check: shows(""),
      ...named("install uninstall download wheel", installs),
    },
  },
  "poetry pipenv uv rye hatch conda mamba bundle gem composer": {
    style: "posix",
    options: "-[qv] --quiet --version",
    operands: "text...",
    does: ["execute", "runs-package", "runs what the workspace or a registry names"],
    judge: ({ walk, scope, name }, { operands }) => {
      const [command = "", ...rest] = operands;
      const words = command === "tool" ? rest.slice(1) : rest;
      if (/^(?:run|exec|x|tool)$/.test(command) && words.length > 0)
        walk.run(words[0] === "--" ? words.slice(1) : words, scope, undefined);
      else if (/^(?:publish|upload|push|yank)$/.test(command))
        walk.report("exfiltration", "sends-data", `${name} publishes files`);
      return undefined;
    },
  },
  twine: publishes,
  "apt apt-get aptitude dnf yum zypper apk pacman snap brew port dpkg rpm flatpak emerge": {
    style: "words",
    judge: ({ args, walk, name }) => {
      const words = args.filter((arg) => !arg.startsWith("-"));
      const isLooking =
        /^(?:list|show|search|policy|info|depends|rdepends|madison|showpkg|deps|leaves|provides|repolist)$/.test(
          words[0] ?? "",
        );
      const isQuery = queries[name]?.test(args[0] ?? "") === true;
      const isPlain = args.every((arg) => !arg.startsWith("-") || /^--(?:installed|upgradable)$/.test(arg));
      if (isLooking && isPlain) {
        if (/^(?:dnf|yum|zypper|snap|brew|port|flatpak)$/.test(name))
          walk.report("network", "network", `${name} may ask a registry`);
        return undefined;
      }
      if (isQuery && args.filter((arg) => arg.startsWith("-")).length === 1) return undefined;
      walk.report("privilege", "changes-system", `${name} changes programs of this machine`);
      return undefined;
    },
  },
  "apt-cache dpkg-query": { options: "-[lLsSW]", operands: "text..." },
};
