import { quoted } from "./view-lines.ts";

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

/** Programs that run others, in ways that the start of a command does not tell. */
const runners: ReadonlySet<string> = new Set(
  words(
    "sudo doas env genv timeout gtimeout nice gnice ionice time gtime stdbuf gstdbuf watch strace ltrace flock chroot chrt taskset " +
      "repeat npx pnpx bunx uvx python pypy nohup gnohup setsid unshare pkexec busybox toybox command builtin exec coproc noglob " +
      "nocorrect unbuffer chronic if then else elif while until do not and or begin caffeinate fakeroot torify torsocks proxychains " +
      "rlwrap winpty corepack cross-env sh bash dash zsh ksh ash fish csh tcsh rbash mksh yash nu source . node nodejs tsx ts-node " +
      "ruby perl php lua luajit r rscript julia groovy scala java elixir irb ipython tclsh ocaml racket swift " +
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

/** @param mayGoOn whether the subcommand's name may continue */
const subcommandProblem = (
  program: string,
  word: string | undefined,
  mayGoOn: boolean,
): string | undefined => {
  if (word === undefined) return `name the subcommand of ${quoted(program)}, too`;
  if (word.startsWith("-")) return `${quoted(program)} has an option before its subcommand: ${exactly}`;
  const [name, sub] = [programOf(program), programOf(word)];
  const installed = runsInstalled.has(name) ? [...runners, ...subcommands.keys()] : [];
  const runs = [...(subcommands.get(name) ?? []), ...installed];
  if (!runs.some((each) => (mayGoOn ? each.startsWith(sub) : each === sub))) return undefined;
  return `the subcommand ${quoted(word)} of ${quoted(program)} runs what its arguments say, or may go on as one that does: ${exactly}`;
};

/**
 * Why the start of a command does not tell which program runs, in words; undefined where it does. Known are programs whose purpose is
 * to run others: an option of any other program may do so, too.
 */
export const commandProblem = (start: string): string | undefined => {
  if (!/^[\w ./:=@,+-]*$/.test(start)) return `it has characters that a shell may interpret: ${exactly}`;
  const [program, ...rest] = words(start);
  if (program === undefined) return "it names no program";
  if (program.startsWith("-") || program.includes("="))
    return `${quoted(program)} is not the name of a program: ${exactly}`;
  const name = programOf(program);
  if (runners.has(name)) return `${quoted(program)} runs what its arguments say: ${exactly}`;
  const isEnded = start.endsWith(" ");
  if (subcommands.has(name)) return subcommandProblem(program, rest[0], rest.length === 1 && !isEnded);
  return rest.length > 0 || isEnded ? undefined : "the program's name may go on: end it with a space";
};
