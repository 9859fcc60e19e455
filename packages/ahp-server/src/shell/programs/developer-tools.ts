import type { Call, Program } from "../call.ts";
import { isUnknown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

/** Tools that run the code of the project or change its files, as their work is. */
const builds: Program = ({ run, name, args, state }) => {
  if (args.some(isUnknown))
    run.report("unknown", "unknown-arguments", `some arguments of ${name} are not known`);
  const places = readOptions(args, "o d output outDir out-dir outfile prefix target-dir build-dir");
  for (const path of places.values("o", "output", "outDir", "out-dir", "outfile", "prefix", "target-dir"))
    run.write(path, state);
  run.report("write", "runs-project", `${name} runs code of the project or writes files`);
  return undefined;
};

/** Tools that only report unless they are told to mend. */
const checks: Program = (call) => {
  const { run, name, args } = call;
  const options = readOptions(
    args,
    "c p config project rulesdir plugin resolve-plugins-relative-to ext format f o output-file",
  );
  for (const path of options.values("o", "output-file")) run.write(path, call.state);
  const only =
    (name === "tsc" && options.has("noEmit")) ||
    (name === "prettier" && options.has("check", "c", "l", "list-different")) ||
    (/^(?:black|isort|gofmt|rustfmt|clang-format|shfmt)$/.test(name) &&
      options.has("check", "diff", "d", "l", "dry-run"));
  const mends = options.has(
    "fix",
    "write",
    "fix-type",
    "unsafe",
    "i",
    "w",
    "in-place",
    "autocorrect",
    "a",
    "A",
    "install-types",
    "init",
  );
  const readsOnly =
    only ||
    (/^(?:eslint|ruff|mypy|pyright|flake8|pylint|shellcheck|hadolint|yamllint|markdownlint|stylelint|golint|staticcheck|tflint|actionlint|oxlint|vulture|bandit|biome|knip|depcheck|madge|typos|codespell|cspell)$/.test(
      name,
    ) &&
      !mends &&
      !/^(?:format|migrate|init|add)$/.test(options.operands[0] ?? ""));
  if (readsOnly && !options.has("rulesdir", "plugin", "resolve-plugins-relative-to")) return undefined;
  run.report("write", "changes-files", `${name} changes files or runs code of the project`);
  return undefined;
};

const make: Program = (call) => {
  const { run, args, state } = call;
  const options = readOptions(args, "f C I j l o W file directory eval include-dir");
  for (const text of options.values("eval"))
    if (text !== "") run.report("unknown", "unknown-script", "make is given rules on its command line");
  for (const path of options.values("C", "directory", "f", "file")) run.read(path, state);
  if (call.stdin !== undefined && options.values("f", "file").includes("-"))
    run.report("unknown", "unknown-script", "make takes rules from its input");
  for (const word of options.operands) {
    const [, name, value = ""] =
      /^(SHELL|CC|CXX|AR|LD|MAKE|\.SHELLFLAGS|\w*CMD\w*)[:+?]?=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && !/^[\w/]*sh$/.test(value)) run.script(value, state.clone(), undefined);
    if (isUnknown(word)) run.report("unknown", "unknown-arguments", "it is not known what make does");
  }
  if (options.has("n", "dry-run", "just-print", "q", "question")) return undefined;
  run.report("write", "runs-project", "make runs the rules of the project");
  return undefined;
};

const cargo: Program = (call) => {
  const { run, args, name } = call;
  const words = readOptions(
    args.filter((arg) => !arg.startsWith("+")),
    "p C Z config manifest-path features target package",
    true,
  ).operands;
  const command = words[0] ?? "";
  if (
    /^(?:tree|metadata|search|version|help|env|list|vet|audit|outdated|pkgid|locate-project|read-manifest|verify-project)?$/.test(
      command,
    )
  )
    return undefined;
  if (command === "publish" || command === "login")
    run.report("exfiltration", "sends-data", `${name} publish shows files to everybody`);
  if (args.some((arg) => /^-(?:toolexec|exec|overlay)/.test(arg)))
    run.report("unknown", "loads-code", `${name} is told to run something else`);
  if (command === "get" || command === "install" || command === "add" || command === "fetch")
    run.noteNetwork();
  run.report("write", "runs-project", `${name} ${command} builds, runs or changes the project`);
  return undefined;
};

/** Command lines of services: the words that only look, and those that destroy. */
const service: Program = (call) => {
  const { run, args, name, state } = call;
  run.noteNetwork();
  const words = args.filter((arg) => !arg.startsWith("-"));
  const text = words.join(" ");
  const destroys =
    /\b(?:delete|destroy|rm|rb|remove|purge|drop|terminate|terminate-instances|wipe|reset|nuke|teardown|uninstall|del|(?:delete|terminate|remove|deregister)-[\w-]+)\b/;
  const looks =
    /\b(?:list|ls|show|view|get|describe|status|diff|info|whoami|plan|validate|version|output|search|checks|(?:list|get|describe)-[\w-]+|fmt|graph|lint|template|history|logs)\b/;
  if (destroys.test(text) || args.some((arg) => /^-+(?:delete|destroy|force-destroy)\b/.test(arg)))
    run.report("destructive", "destroys-elsewhere", `${name} deletes things elsewhere`);
  if (name === "gh" && words[0] === "api") {
    const sends = readOptions(args, "X H f F method header field raw-field input jq q").has(
      "f",
      "F",
      "field",
      "raw-field",
      "input",
      "X",
      "method",
    );
    run.report(
      sends ? "exfiltration" : "write",
      sends ? "sends-data" : "network",
      "gh api speaks to a service",
    );
    return undefined;
  }
  if (
    /^(?:gh|glab)$/.test(name) &&
    /^(?:gist|auth|secret|ssh-key|gpg-key|codespace|extension|alias)$/.test(words[0] ?? "")
  ) {
    if (words[0] === "gist" && words[1] === "create") {
      for (const path of words.slice(2)) run.read(path, state);
      run.report("exfiltration", "sends-data", `${name} shows files to others`);
    } else
      run.report(
        "unknown",
        "uses-keys",
        `${name} ${text.slice(0, 40)} uses credentials or runs other things`,
      );
    return undefined;
  }
  if (
    /\b(?:cp|mv|sync|upload|put-object|publish|invoke|send-message)\b/.test(text) &&
    !/^(?:terraform|helm|pulumi)$/.test(name)
  ) {
    for (const path of words.slice(2)) if (!path.includes("://")) run.read(path, state);
    run.report("exfiltration", "remote-copy", `${name} moves data to or from a service`);
    return undefined;
  }
  if (
    /\b(?:get-secret-value|get-parameters?|secrets?|get-login-password|get-session-token|print-access-token|export-credentials)\b/.test(
      text,
    )
  ) {
    run.noteSecret();
    run.report("unknown", "uses-keys", `${name} shows secrets`);
    return "\uE002";
  }
  if (looks.test(text) && !/\b(?:create|apply|set|edit|put|update|merge|close|run|exec)\b/.test(text))
    run.report("write", "network", `${name} asks a service`);
  else run.report("write", "changes-elsewhere", `${name} changes things elsewhere`);
  return undefined;
};

const opener: Program = ({ run, args, name, state }) => {
  for (const arg of args.filter((each) => !each.startsWith("-") && !each.includes("://")))
    run.read(arg, state);
  if (args.some((arg) => arg.includes("://"))) run.noteNetwork();
  run.report("unknown", "opens-program", `${name} opens another program`);
  return undefined;
};

const runsScripts: Program = (call: Call) => {
  call.run.report("unknown", "runs-file", `${call.name} runs what a file of the project says`);
  return undefined;
};

export const developerPrograms = [
  ...entries(
    "gcc g++ cc c++ clang clang++ ld as ninja cmake meson bazel buck gradle gradlew mvn mvnw ant sbt lein rake mix pytest tox nox jest vitest mocha ava playwright cypress karma phpunit rspec webpack vite rollup esbuild parcel turbo nx lerna tsup swc babel next nuxt astro svelte-kit gulp grunt javac kotlinc rustc swiftc ghc dotnet msbuild xcodebuild protoc sass lessc postcss tailwindcss typedoc jsdoc doxygen sphinx-build mkdocs pdflatex latexmk pandoc convert magick ffmpeg changeset lint-staged flutter dart zig nim crystal coverage c8 nyc storybook prisma drizzle-kit alembic django-admin",
    builds,
  ),
  ...entries(
    "eslint prettier tsc ruff black isort mypy pyright flake8 pylint shellcheck hadolint yamllint markdownlint stylelint golint gofmt goimports staticcheck rustfmt clang-format clang-tidy shfmt tflint actionlint oxlint vulture bandit biome knip depcheck madge typos codespell cspell rubocop autopep8 dprint",
    checks,
  ),
  ...entries("make gmake", make),
  ...entries("cargo go", cargo),
  ...entries(
    "gh glab aws az gcloud terraform tofu pulumi helm heroku flyctl fly vercel netlify wrangler firebase doctl linode-cli serverless sls sam cdk eksctl kustomize argocd stripe sentry-cli",
    service,
    { network: true },
  ),
  ...entries("open xdg-open start code cursor idea subl", opener),
  ...entries(
    "just task ansible ansible-playbook vagrant packer salt puppet chef-client pre-commit invoke fab doit overmind foreman honcho pm2 supervisorctl nodemon watchexec air act nix nix-shell nix-build docker-entrypoint",
    runsScripts,
  ),
];
