import { isUnknown } from "../marks.ts";
import { acts, byArguments, byWords, type Call, type Does, type Family, type Spec } from "./spec.ts";

/** A program of which some arguments only look, while all others act. */
const looksOr = (looks: string, does: Does): Spec => ({
  style: "words",
  judge: byArguments([new RegExp(`^(?!${looks}$)`), does]),
});

const kill = ({ args, walk, name }: Call): void => {
  if (args[0] === "-l" || args[0] === "-L") return;
  walk.report("write", "ends-processes", `${name} ends or signals processes`);
  const targets = args
    .slice(1)
    .filter((arg, index) => /^-?\d+$/.test(arg) && !/^-[sn]$/.test(args[index] ?? ""));
  const endsAll =
    targets.some((each) => each === "-1" || each === "1") || (args[0] === "-1" && args.length === 1);
  const ofUser = args.some((arg) => /^-(?:u|U|-euid|-user)/.test(arg) || arg === "." || arg === ".*");
  if (name === "killall5" || (name === "kill" ? endsAll : ofUser))
    walk.report("destructive", "kills-all", `${name} ends all processes`);
  if (args.some(isUnknown))
    walk.unknown("unknown-word", `the policy cannot tell which processes ${name} ends`);
};

/** Programs that control this machine. */
export const system: Family = {
  "kill pkill killall killall5 skill": { style: "words", judge: kill },
  "shutdown reboot halt poweroff init telinit": "=> destructive stops-machine stops this machine",
  systemctl: {
    usage: "--user --no-pager --all -a --type=text --state=text -n=number --full -l text...",
    judge: byWords(
      [
        /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate)\b/,
        "destructive stops-machine stops this machine",
      ],
      [
        /^(?!(?:(?:status|show|cat|list-[a-z-]+|is-[a-z-]+|get-default)(?: |$))|$)/,
        "privilege controls-services controls services of the system",
      ],
    ),
  },
  "service rc-service launchctl initctl": "=> privilege controls-services controls services of the system",
  dmesg:
    "-[ehHkLprStTuwWxP] -f=text -l=text -c!destructive -C!destructive --clear!destructive --ctime --human --follow --decode --level=text --kernel --nopager --reltime --notime",
  journalctl:
    "-[aefklmqrxbHTLtuW] -u=text -n=number -p=text -S=text -U=text -o=text --unit=text --since=text --until=text --no-pager --lines=number --follow --priority=text --output=text --boot?=text --reverse --grep=text -c!destructive -C!destructive --clear!destructive --vacuum-time=text!destructive --vacuum-size=text!destructive --vacuum-files=text!destructive --rotate!destructive --flush!destructive text...",
  "mkfs mkfs.ext4 mkfs.ext3 mkfs.xfs mkfs.btrfs mkfs.vfat mkswap wipefs mke2fs newfs blkdiscard hdparm cryptsetup":
    "=> destructive changes-disks formats or changes a disk",
  "fdisk sfdisk cfdisk gdisk sgdisk parted diskutil": looksOr(
    String.raw`(?:(?:-l|--list)(?: /dev/\w+)?|list)`,
    "destructive changes-disks changes how disks are divided or formatted",
  ),
  "mount umount losetup swapon swapoff": looksOr(
    "(?:-l|--show)?",
    "privilege mounts changes what is mounted",
  ),
  "iptables ip6tables nft ufw firewall-cmd": looksOr(
    "(?:(?:-n )?(?:-L|-S|--list)(?: [A-Z]+)?|status|--state)",
    "privilege changes-firewall changes what the network lets through",
  ),
  sysctl: looksOr(
    String.raw`(?:-a|(?:-n )?[a-z][\w.]*)`,
    "privilege writes-kernel changes settings of the kernel",
  ),
  "ip ifconfig route nmcli brctl iwconfig": looksOr(
    "(?:-br )?(?:a|addr|address|link|route|r|l|neigh|-a)?(?: (?:show|list))?",
    "privilege changes-network changes the network of this machine",
  ),
  "timedatectl hostnamectl localectl loginctl": looksOr(
    "(?:status|show|list-[a-z-]+)?",
    "privilege changes-system changes this machine",
  ),
  "hwclock chronyd ntpdate": "=> privilege sets-clock sets the clock of this machine",
  "crontab at batch": acts("unknown runs-later shows, changes or deletes commands that run later", {
    judge: byArguments([/(?:^| )-r(?: |$)/, "destructive deletes deletes all jobs"]),
  }),
  "gdb lldb": acts("unknown runs-file runs or changes a program", {
    judge: byArguments([
      /(?:^| )(?:-p\d*(?: |$)|--pid|--attach)/,
      "privilege looks-into-process looks into another process",
    ]),
  }),
  openssl: {
    style: "words",
    judge: ({ args, walk, scope, name }) => {
      const [command = "", ...rest] = args;
      if (command === "s_client" || command === "s_server") {
        walk.network(true);
        walk.report("exfiltration", "sends-data", `${name} ${command} connects to another machine`);
      }
      const isX509 =
        command === "x509" &&
        rest.every(
          (arg, index) =>
            rest[index - 1] === "-in" ||
            /^-(?:in|noout|text|subject|issuer|dates|enddate|fingerprint|serial)$/.test(arg),
        );
      const isDigest = command === "dgst" && rest.every((arg) => /^-(?:sha\d+|md5)$|^[^-]/.test(arg));
      rest.forEach((arg) => {
        if (!arg.startsWith("-") && (isX509 || isDigest)) walk.read(arg, scope);
      });
      if (!isX509 && !isDigest && args.join(" ") !== "version")
        walk.unknown("unknown-option", `the policy cannot tell what ${name} ${command} does`);
    },
  },
  "vi vim nvim nano emacs ed ex pico micro hx":
    "-[RnX] write... => execute edits opens an editor, which can run commands",
  "open xdg-open start code cursor idea subl": "=> unknown opens opens a file with another program",
  "logrotate updatedb ldconfig": "=> privilege changes-system changes this machine",
  "identify ffprobe ffmpeg convert magick pandoc latex pdflatex xelatex gs":
    "=> unknown unknown-option may run programs that its input names",
  ldd: "=> unknown runs-file may run the file that it is given",
};
