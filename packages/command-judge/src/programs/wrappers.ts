import { hasMark, isUnknown, mayBeOption, unknownMark } from "../marks.ts";
import { noteAssignment } from "../walk/environment.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family, Spec } from "./spec.ts";
import { programTable } from "./table.ts";

const wrapper = (options: string, operands = "command"): Spec => ({ style: "posix", options, operands });

const env = (call: Call, parsed: Parsed): string | undefined => {
  const { walk, scope, stdin } = call;
  const inside = scope.clone();
  for (const folder of parsed.values("-C", "--chdir")) {
    walk.list(folder, scope);
    inside.directories = hasMark(folder) ? undefined : scope.arrival(folder);
  }
  for (const text of parsed.values("-S", "--split-string")) {
    walk.unknown("unknown-script", "env splits a text into words");
    walk.script(text, inside.fresh(), undefined);
  }
  const words = [...parsed.operands];
  while (/^\w+=/.test(words[0] ?? "")) {
    const [word = ""] = words.splice(0, 1);
    noteAssignment(walk, word.split("=")[0] ?? "", word.slice(word.indexOf("=") + 1), true, scope);
  }
  if (words.length > 0) return walk.run(words, inside, stdin);
  if (!parsed.has("-S", "--split-string"))
    walk.secret("reads-environment", "it prints the environment, which may hold secrets");
  return undefined;
};

const texts =
  (skip: number) =>
  ({ walk, scope, name }: Call, parsed: Parsed): undefined => {
    const words = parsed.operands.slice(skip);
    walk.report("execute", "runs-code", `${name} runs a command again and again, or elsewhere`);
    if (words.length > 0) walk.script(words.join(" "), scope.fresh(), undefined);
  };

const flock = ({ walk, scope, stdin }: Call, parsed: Parsed): undefined => {
  const [file = unknownMark, ...words] = parsed.operands;
  if (!/^\d+$/.test(file)) walk.write(file, scope);
  if (words[0] === "-c" || words[0] === "--command") walk.script(words[1] ?? "", scope.fresh(), stdin);
  else if (words.length > 0) walk.run(words, scope, stdin);
};

const script = ({ walk, scope, stdin }: Call, parsed: Parsed): undefined => {
  for (const path of parsed.operands.slice(0, 1)) walk.write(path, scope);
  const given = parsed.values("-c", "--command");
  for (const text of given) walk.script(text, scope.fresh(), stdin);
  if (given.length === 0) walk.unknown("unknown-script", "script opens a shell");
};

/** `parallel rm ::: a`: a shell text, and what is put into it. */
const parallel = ({ walk, scope, name }: Call, parsed: Parsed): undefined => {
  const at = parsed.operands.findIndex((word) => /^::::?\+?$/.test(word));
  const words = at === -1 ? parsed.operands : parsed.operands.slice(0, at);
  const fields = at === -1 ? [] : parsed.operands.slice(at + 1);
  walk.unknown("unknown-script", `${name} makes commands of words`);
  for (const field of fields.slice(0, 16))
    walk.suspect(() => walk.script([...words, field].join(" "), scope.fresh(), undefined));
  walk.suspect(() => walk.script(words.join(" "), scope.fresh(), undefined));
};

const builtin = ({ walk, scope, stdin }: Call, parsed: Parsed): string | undefined => {
  if (parsed.has("-v", "-V") || parsed.operands.length === 0) return undefined;
  return walk.run(parsed.operands, scope, stdin);
};

/** Finds the command of a wrapper whose options are not known: the first word that is the name of a program. */
const anyCommand = ({ args, walk, scope, stdin }: Call): undefined => {
  const at = args.findIndex((arg) => !mayBeOption(arg) && (programTable().has(arg) || arg.includes("/")));
  if (at !== -1) walk.run(args.slice(at), scope, stdin);
};

const loader: Spec = {
  style: "words",
  operands: "text...",
  does: ["unknown", "runs-file", "loads a program"],
  judge: anyCommand,
};

/** Programs that run another program. */
export const wrappers: Family = {
  "env genv": {
    style: "posix",
    options:
      "-[i0v] -u=text -C=text -S=text --ignore-environment --null --unset=text --chdir=text --split-string=text --debug",
    operands: "text...",
    judge: env,
  },
  nohup: wrapper("", "command"),
  setsid: wrapper("-[cfw] --ctty --fork --wait"),
  nice: wrapper("-# -n=number --adjustment=number"),
  "timeout gtimeout": wrapper(
    "-[v] -s=text -k=text --signal=text --kill-after=text --foreground --preserve-status --verbose",
    "number command",
  ),
  time: wrapper("-[pvaqV] -f=text -o=write --format=text --output=write --append --verbose --portability"),
  "stdbuf gstdbuf": wrapper("-i=text -o=text -e=text --input=text --output=text --error=text"),
  ionice: wrapper("-[t] -c=number -n=number -p=number --class=text --classdata=number"),
  chrt: wrapper("-[abdfimorR] -T=number -P=number -D=number", "number command"),
  taskset: wrapper("-[a] -c --cpu-list --all-tasks", "text command"),
  "unbuffer chronic caffeinate catchsegv": wrapper("-[ipdsum] -t=number"),
  "command builtin exec": {
    style: "posix",
    options: "-[pvVcl] -a=text",
    operands: "text...",
    judge: builtin,
  },
  "noglob nocorrect": wrapper(""),
  watch: {
    style: "posix",
    options: "-[dtbexcgpw] -n=number --interval=number --differences --no-title --color --exec",
    operands: "text...",
    judge: texts(0),
  },
  entr: {
    style: "posix",
    options: "-[acdnprsz]",
    operands: "command",
    does: ["execute", "runs-code", "runs a command when files change"],
  },
  hyperfine: {
    options:
      "-[iN] -w=number -r=number -m=number -M=number -p=shell -s=shell -c=shell -S=shell --warmup=number --runs=number --prepare=shell --setup=shell --cleanup=shell --shell=shell --export-json=write --export-markdown=write --export-csv=write",
    operands: "shell...",
  },
  flock: {
    style: "posix",
    options: "-[nxsueFov] -w=number -E=number --nonblock --exclusive --shared --timeout=number",
    operands: "text...",
    judge: flock,
  },
  script: {
    options: "-[aefq] -c=text --command=text --quiet --return --flush",
    operands: "text...",
    judge: script,
  },
  parallel: {
    style: "posix",
    options:
      "-[k0] -j=text -N=number -n=number -I=text -a=read --jobs=text --dry-run --bar --keep-order -S=text!exfiltration --sshlogin=text!exfiltration",
    operands: "text...",
    judge: parallel,
  },
  strace: wrapper(
    "-[fFcCtrTvxyqiD] -e=text -o=write -s=number -u=text!privilege -p=number!privilege -P=text -a=number",
  ),
  "ltrace valgrind heaptrack perf numactl cpulimit prlimit firejail bwrap systemd-run systemd-cat dbus-run-session fakeroot torify torsocks proxychains proxychains4 rlwrap faketime xvfb-run winpty direnv mise asdf op-run dotenv doppler ld-linux ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2 ld-musl-x86_64.so.1":
    loader,
  "/lib64/ld-linux-x86-64.so.2 /lib/ld-linux.so.2 /lib/ld-linux-aarch64.so.1 /lib/ld-musl-x86_64.so.1":
    loader,
  "busybox toybox coreutils": {
    style: "words",
    operands: "text...",
    judge: ({ args, walk, scope, stdin }) => {
      if (args.length === 0 || args[0]?.startsWith("-") === true)
        walk.unknown("unknown-option", "it is not known what busybox does");
      else walk.run(args, scope, stdin);
      return undefined;
    },
  },
  "tmux screen": {
    style: "words",
    operands: "text...",
    does: ["unknown", "starts-processes", "starts or feeds other shells"],
    judge: ({ args, walk, scope }) => {
      for (const arg of args)
        if (!isUnknown(arg)) walk.suspect(() => walk.script(arg, scope.fresh(), undefined));
      return undefined;
    },
  },
};
