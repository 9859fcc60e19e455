import { quoted } from "./view-lines.ts";

interface Wrapper {
  /** The options before the program; a name that ends with `=` takes a value. */
  readonly options: ReadonlySet<string>;
  /** How many operands stand before the program. */
  readonly operands: number;
}

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

/** Names, what may stand between them and the program that they run, and how many operands. */
const wrapperRows: readonly (readonly [names: string, options?: string, operands?: number])[] = [
  ["sudo doas", "-n -E -H -A -k -S -b -u= -g= --user= --group= --non-interactive --preserve-env --set-home"],
  ["env genv", "-i -0 -v -u= -C= --ignore-environment --unset= --chdir="],
  ["timeout gtimeout", "-v -k= -s= --kill-after= --signal= --foreground --preserve-status --verbose", 1],
  ["nice gnice", "-n= --adjustment="],
  ["ionice", "-t -c= -n= --class= --classdata="],
  ["time gtime", "-p -v"],
  ["stdbuf gstdbuf", "-i= -o= -e= --input= --output= --error="],
  ["watch", "-d -t -n= --interval="],
  ["strace ltrace", "-f"],
  ["flock", "-n -s -x -w= --nonblock --timeout=", 1],
  ["chroot chrt taskset repeat", "", 1],
  ["npx pnpx bunx uvx", "-y --yes --no-install --bun"],
  ["python pypy", "-m -u -B"],
  [
    "nohup setsid unshare pkexec busybox toybox command builtin exec coproc noglob nocorrect unbuffer chronic",
  ],
  ["if then else elif while until do not and or begin"],
  ["gnohup caffeinate fakeroot torify torsocks proxychains rlwrap winpty corepack cross-env"],
  [
    "sh bash dash zsh ksh ash fish csh tcsh rbash mksh yash nu source . node nodejs tsx ts-node ruby perl php lua luajit",
  ],
  ["r rscript julia groovy scala java elixir irb ipython tclsh ocaml racket swift"],
];

const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  wrapperRows.flatMap(([names, options = "", operands = 0]) =>
    words(names).map((name) => [name, { options: new Set(words(options)), operands }] as const),
  ),
);

/** Programs that run others in ways that the start of a command does not tell. */
const exactOnly: ReadonlySet<string> = new Set(
  words(
    "ssh autossh mosh docker podman nerdctl docker-compose podman-compose kubectl oc k3s lxc incus buildah su runuser " +
      "setpriv gosu su-exec nsenter runas xargs gxargs find gfind fd fdfind parallel eval awk gawk mawk nawk entr " +
      "hyperfine script expect tmux screen valgrind heaptrack perf gdb lldb numactl cpulimit prlimit firejail bwrap " +
      "systemd-run systemd-cat dbus-run-session proot xvfb-run faketime direnv mise asdf op-run dotenv doppler nix-shell " +
      "sshpass slogin rsh pdsh ansible vagrant sg trap alias setarch linux choom cgexec runcon capsh dtach daemonize chpst " +
      "setuidgid envdir tini dumb-init start-stop-daemon run-parts at batch crontab socat ncat concurrently nodemon cmd powershell pwsh wsl osascript " +
      "ld-linux ld-linux-x86-64.so ld-linux-aarch64.so ld-musl-x86_64.so vi vim nvim emacs ed ex " +
      "inspect debugpy pyinstrument pdb profile cprofile runpy timeit trace coverage",
  ),
);

/** Programs with subcommands, and the subcommands that run what follows. */
const subcommands: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    git: "bisect config difftool filter-branch for-each-repo mergetool rebase submodule",
    npm: "exec x explore",
    pnpm: "dlx exec",
    yarn: "dlx exec",
    bun: "run x exec repl",
    deno: "run eval x exec repl serve",
    uv: "run tool x",
    cargo: "run r watch",
    go: "run tool",
    pipx: "run",
    poetry: "run",
    pipenv: "run",
    hatch: "run",
    rye: "run",
    conda: "run",
    mamba: "run",
    bundle: "exec",
    composer: "exec",
    gem: "exec",
    rustup: "run",
    dotnet: "run exec",
    nix: "run shell develop",
  }).map(([name, runs]) => [name, words(runs)]),
);

/** Programs that take the name of any installed program for a subcommand. */
const runsInstalled: ReadonlySet<string> = new Set(["pnpm", "yarn", "bun"]);

/** A program's name without its directory, version and `.exe`. */
const programOf = (word: string): string => {
  const base = (word.split("/").at(-1) ?? word).toLowerCase().replace(/\.(?:exe|cmd|bat)$/, "");
  return base.replace(/-?[\d.]+$/, "") || base;
};

const exactly = "allow exactly this call instead (is)";

/** Drops the options and operands of a wrapper from `rest`; returns an option that is not in the table. */
const dropArguments = (rest: string[], { options, operands }: Wrapper): string | undefined => {
  while (rest[0]?.startsWith("-")) {
    const option = rest.shift() ?? "";
    if (option === "--") break;
    const [name] = option.split("=", 1);
    if (options.has(option)) continue;
    if (!options.has(`${name}=`)) return option;
    if (!option.includes("=")) rest.shift();
  }
  rest.splice(0, operands);
  return undefined;
};

const subcommandProblem = (
  program: string,
  word: string | undefined,
  mayGoOn: boolean,
): string | undefined => {
  if (word === undefined) return `name the subcommand of ${quoted(program)}, too`;
  if (word.startsWith("-")) return `${quoted(program)} has an option before its subcommand: ${exactly}`;
  const runs = [
    ...(subcommands.get(programOf(program)) ?? []),
    ...(runsInstalled.has(programOf(program))
      ? [...wrappers.keys(), ...exactOnly, ...subcommands.keys()]
      : []),
  ];
  const run = runs.find((each) => (mayGoOn ? each.startsWith(programOf(word)) : each === programOf(word)));
  if (run === undefined) return undefined;
  const may = run === programOf(word) ? "" : `may go on as ${quoted(run)}, which `;
  return `the subcommand ${quoted(word)} of ${quoted(program)} ${may}runs what its arguments say: ${exactly}`;
};

/**
 * Why the start of a command does not tell which program runs, in words; undefined where it does. Known are programs whose purpose is
 * to run others: an option of any other program may do so, too.
 */
export const commandProblem = (start: string): string | undefined => {
  if (!/^[\w ./:=@,+-]*$/.test(start)) return `it has characters that a shell may interpret: ${exactly}`;
  const isEnded = start.endsWith(" ");
  const rest = [...words(start)];
  let runner: string | undefined;
  for (;;) {
    while (rest[0]?.includes("=") && !rest[0].startsWith("-")) rest.shift();
    const program = rest.shift();
    if (program === undefined)
      return runner === undefined
        ? "it names no program"
        : `${quoted(runner)} runs whatever follows: name that, too`;
    if (program.startsWith("-")) return `${quoted(program)} is not the name of a program: ${exactly}`;
    const name = programOf(program);
    if (exactOnly.has(name)) return `${quoted(program)} runs what its arguments say: ${exactly}`;
    const wrapper = wrappers.get(name);
    if (subcommands.has(name)) return subcommandProblem(program, rest[0], rest.length === 1 && !isEnded);
    if (wrapper === undefined)
      return rest.length > 0 || isEnded ? undefined : "the program's name may go on: end it with a space";
    const option = dropArguments(rest, wrapper);
    if (option !== undefined)
      return `${quoted(program)} runs whatever follows, and its option ${quoted(option)} may change what that is: ${exactly}`;
    runner = program;
  }
};
