import { byArguments, type Family, type Spec, withOperands } from "./spec.ts";

/** What runs code of the workspace: its build files, settings, plug-ins or tests. */
const runsWorkspace = (what: string, usage = ""): Spec => ({
  usage: withOperands(usage, "list..."),
  does: `execute runs-workspace ${what}`,
});

const testOptions =
  "-[qvsxlw] -t=text -k=text -m=text -c=unknown -p=unknown --run --watch --coverage --reporter=text --maxWorkers=text --testNamePattern=text --verbose --silent --bail?=text --passWithNoTests --no-header --tb=text --lf --ff --maxfail=number --cov?=text --ci --runInBand text...";

/** Builds, checks and tests. All of them take settings from the workspace. */
export const build: Family = {
  "make gmake": {
    ...runsWorkspace(
      "runs the commands of a makefile",
      "-[Bksnwi] -j?=number -C=list -f=read -o=text --dry-run --silent --keep-going --always-make text...",
    ),
    judge: ({ args, walk, scope }) => {
      for (const arg of args) {
        if (!/^\w+:?=/.test(arg)) continue;
        walk.unknown("unknown-assignment", `make is given ${arg}`);
        walk.suspect(() => walk.script(arg.slice(arg.indexOf("=") + 1), scope.fresh(), undefined));
      }
    },
  },
  "cmake ninja meson bazel gradle gradlew mvn ant sbt scons rake xcodebuild msbuild dotnet swift mix lein stack cabal zig dune":
    { ...runsWorkspace("runs the build of the workspace"), style: "words" },
  "cargo rustup go": {
    ...runsWorkspace("takes programs from the settings of the workspace"),
    style: "words",
    judge: byArguments(
      [/(?:^| )publish(?: |$)/, "exfiltration sends-data publishes files"],
      [/(?:^| )(?:--(?:config|manifest-path)|-Z)/, "unknown unknown-option is given settings"],
    ),
  },
  gofmt: { style: "single", usage: "-l -d -s -e -w!write read..." },
  tsc: {
    style: "single",
    usage:
      "--noEmit -noEmit -p=read --project=read --pretty=text --skipLibCheck --strict --watch -w -b --build -v --version --showConfig --listFiles read...",
    judge: ({ walk }, parsed) => {
      // With -b, -v means that it says more.
      if (parsed.has("-b", "--build") || !parsed.has("--version", "-v", "--showConfig"))
        walk.report("write", "writes", "tsc may write files that its settings name");
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
    runsWorkspace("runs the tests of the workspace", testOptions),
  "webpack vite rollup esbuild parcel next nuxt turbo nx lerna gulp grunt babel swc tsup tsx ts-node storybook astro svelte-kit ng vue-cli-service expo":
    { ...runsWorkspace("runs the build of the workspace"), style: "words" },
  "gcc g++ cc c++ clang clang++ rustc javac ld as":
    "-[cSEgvO] -o=write -I=list -L=list -D=text -l=text -O?=text -std=text read... => write writes compiles, and writes what it makes",
  "just task ansible ansible-playbook vagrant packer salt puppet chef-client pre-commit invoke fab doit overmind foreman honcho pm2 supervisorctl nodemon watchexec air act nix nix-shell nix-build":
    "=> unknown runs-workspace runs what a file of the workspace says",
};
