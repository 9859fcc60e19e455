import { acts, type Family, type Spec } from "./spec.ts";

/** What runs code of the workspace: its build files, settings, plug-ins or tests. */
const runsWorkspace = (what: string, options = ""): Spec => ({
  options,
  operands: "list...",
  does: ["execute", "runs-workspace", what],
});

const testOptions =
  "-[qvsxlw] -t=text -k=text -m=text -c=unknown -p=unknown --run --watch --coverage --reporter=text --maxWorkers=text --testNamePattern=text --verbose --silent --bail?=text --passWithNoTests --no-header --tb=text --lf --ff --maxfail=number --cov?=text --ci --runInBand";

/** Builds, checks and tests. All of them take settings from the workspace. */
export const build: Family = {
  "make gmake": {
    ...runsWorkspace(
      "runs the commands of a makefile",
      "-[Bksnwi] -j?=number -C=list -f=read -o=text --dry-run --silent --keep-going --always-make",
    ),
    operands: "text...",
    judge: ({ args, walk, scope }) => {
      for (const arg of args) {
        if (!/^\w+:?=/.test(arg)) continue;
        walk.unknown("unknown-assignment", `make is given ${arg}`);
        walk.suspect(() => walk.script(arg.slice(arg.indexOf("=") + 1), scope.fresh(), undefined));
      }
      return undefined;
    },
  },
  "cmake ninja meson bazel gradle gradlew mvn ant sbt scons rake xcodebuild msbuild dotnet swift mix lein stack cabal zig dune":
    { ...runsWorkspace("runs the build of the workspace"), style: "words" },
  "cargo rustup go": {
    ...runsWorkspace("takes programs from the settings of the workspace"),
    style: "words",
    judge: ({ args, walk, name }) => {
      if (args.some((arg) => /^--(?:config|manifest-path)|^-Z/.test(arg)))
        walk.unknown("unknown-option", `${name} is given settings`);
      if (args.includes("publish"))
        walk.report("exfiltration", "sends-data", "cargo publish publishes files");
      return undefined;
    },
  },
  gofmt: { style: "single", options: "-l -d -s -e -w!write", operands: "read..." },
  tsc: {
    style: "single",
    options:
      "--noEmit -noEmit -p=read --project=read --pretty=text --skipLibCheck --strict --watch -w -b --build -v --version --showConfig --listFiles",
    operands: "read...",
    judge: ({ walk }, parsed) => {
      // With -b, -v means that it says more.
      if (parsed.has("-b", "--build") || !parsed.has("--version", "-v", "--showConfig"))
        walk.report("write", "writes", "tsc may write files that its settings name");
      return undefined;
    },
  },
  "eslint oxlint xo stylelint prettier biome tslint standard": runsWorkspace(
    "runs the settings and plug-ins of the workspace",
    "--fix!write --write!write -w!write --check -c -l --list-different --ext=text --max-warnings=number --cache!write --format=text -f=text --quiet --no-error-on-unmatched-pattern --color --no-color",
  ),
  "ruff black isort flake8 mypy pylint pyright rubocop golangci-lint gofumpt clang-format clang-tidy swiftlint ktlint":
    {
      ...runsWorkspace("takes settings from the workspace, and may write"),
      style: "words",
    },
  "vitest jest mocha ava tap jasmine karma cypress playwright pytest py.test tox nox nosetests rspec phpunit ctest":
    {
      ...runsWorkspace("runs the tests of the workspace", testOptions),
      operands: "text...",
    },
  "webpack vite rollup esbuild parcel next nuxt turbo nx lerna gulp grunt babel swc tsup tsx ts-node storybook astro svelte-kit ng vue-cli-service expo":
    { ...runsWorkspace("runs the build of the workspace"), style: "words" },
  "gcc g++ cc c++ clang clang++ rustc javac ld as": {
    options: "-[cSEgvO] -o=write -I=list -L=list -D=text -l=text -O?=text -std=text",
    operands: "read...",
    does: ["write", "writes", "compiles, and writes what it makes"],
  },
  "just task ansible ansible-playbook vagrant packer salt puppet chef-client pre-commit invoke fab doit overmind foreman honcho pm2 supervisorctl nodemon watchexec air act nix nix-shell nix-build":
    acts("unknown", "runs-workspace", "runs what a file of the workspace says"),
};
