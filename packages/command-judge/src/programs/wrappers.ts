import { hasMark, mayBeOption } from "../marks.ts";
import { noteAssignment } from "../walk/environment.ts";
import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family, type Spec, withOperands } from "./spec.ts";
import { programTable } from "./table.ts";

const wrapper = (usage: string): Spec => ({ style: "posix", usage: withOperands(usage, "command") });

const env = (call: Call, parsed: Parsed): string | undefined => {
  const { walk, scope, stdin } = call;
  const inside = scope.clone();
  for (const folder of parsed.values("-C", "--chdir")) {
    walk.list(folder, scope);
    inside.directories = hasMark(folder) ? undefined : scope.arrival(folder);
  }
  for (const text of parsed.values("-S", "--split-string")) {
    walk.unknown("unknown-script", "env splits a string into words");
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
};

const builtin = ({ walk, scope, stdin }: Call, parsed: Parsed): string | undefined => {
  if (parsed.has("-v", "-V") || parsed.operands.length === 0) return undefined;
  return walk.run(parsed.operands, scope, stdin);
};

/** Finds the command of a wrapper whose options are not known: the first word that is the name of a program. */
const anyCommand = ({ args, walk, scope, stdin }: Call): void => {
  const at = args.findIndex((arg) => !mayBeOption(arg) && (programTable().has(arg) || arg.includes("/")));
  if (at !== -1) walk.run(args.slice(at), scope, stdin);
};

/** Wrappers that run more than one command, or of which not all options are known. */
const opaque = acts("unknown runs-code runs a command in a way that is not known", {
  judge: anyCommand,
});

/** Programs that run another program. */
export const wrappers: Family = {
  "env genv": {
    style: "posix",
    usage:
      "-[i0v] -u=text -C=text -S=text --ignore-environment --null --unset=text --chdir=text --split-string=text --debug text...",
    prints: env,
  },
  nohup: { ...wrapper(""), does: "write writes may write nohup.out" },
  setsid: wrapper("-[cfw] --ctty --fork --wait"),
  nice: wrapper("-# -n=number --adjustment=number"),
  "timeout gtimeout": wrapper(
    "-[v] -s=text -k=text --signal=text --kill-after=text --foreground --preserve-status --verbose number command",
  ),
  time: wrapper("-[pvaqV] -f=text -o=write --format=text --output=write --append --verbose --portability"),
  "stdbuf gstdbuf": wrapper("-i=text -o=text -e=text --input=text --output=text --error=text"),
  ionice: wrapper("-[t] -c=number -n=number -p=number!write --class=text --classdata=number"),
  chrt: wrapper("-[abdfimorR] -T=number -P=number -D=number number command"),
  taskset: wrapper("-[a] -c --cpu-list --all-tasks text command"),
  "unbuffer chronic caffeinate catchsegv": wrapper("-[ipdsum] -t=number"),
  "command builtin exec": {
    style: "posix",
    usage: "-[pvVcl] -a=text text...",
    prints: builtin,
  },
  "noglob nocorrect": wrapper(""),
  strace: wrapper(
    "-[fFcCtrTvxyqiD] -e=unknown -o=write -s=number -u=text!privilege -p=number!privilege -P=text -a=number",
  ),
  "watch entr hyperfine flock script parallel tmux screen ltrace valgrind heaptrack perf numactl cpulimit prlimit firejail bwrap systemd-run systemd-cat dbus-run-session fakeroot torify torsocks proxychains proxychains4 rlwrap faketime xvfb-run winpty direnv mise asdf op-run dotenv doppler ld-linux ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2 ld-musl-x86_64.so.1":
    opaque,
  "/lib64/ld-linux-x86-64.so.2 /lib/ld-linux.so.2 /lib/ld-linux-aarch64.so.1 /lib/ld-musl-x86_64.so.1":
    opaque,
  "busybox toybox coreutils": acts(
    "unknown runs-applet runs an applet, whose options are not in the tables",
    {
      judge: ({ args, walk, scope, stdin }) => {
        walk.run(args, scope, stdin);
      },
    },
  ),
};
