import type { Call, Program } from "../call.ts";
import { isUnknown, shown } from "../marks.ts";
import { entries } from "./program-entry.ts";

const destructive =
  (code: string, text: string): Program =>
  ({ run, name }) => {
    run.report("destructive", code, `${name} ${text}`);
    return "";
  };

const privileged =
  (code: string, text: string): Program =>
  ({ run, name }) => {
    run.report("privilege", code, `${name} ${text}`);
    return "";
  };

/** Programs of which some words only look, while all others act. */
const unless =
  (looks: RegExp, act: Program): Program =>
  (call) => {
    const words = call.args.filter((arg) => !arg.startsWith("-"));
    return looks.test(words[0] ?? "") || words[1] === "status" ? undefined : act(call);
  };

const kill: Program = ({ run, args, name }) => {
  if (args.some((arg) => arg === "-l" || arg === "-L" || arg === "--list")) return undefined;
  run.report("write", "ends-processes", `${name} ends or signals processes`);
  const targets = args.filter(
    (arg, index) => index > 0 && /^-?\d+$/.test(arg) && !/^-[sn]$/.test(args[index - 1] ?? ""),
  );
  if (
    name === "kill" &&
    (targets.some((each) => each === "-1" || each === "1") || (args[0] === "-1" && args.length === 1))
  )
    run.report("destructive", "kills-all", "it ends every process");
  if (name !== "kill" && args.some((arg) => /^-(?:u|U|-euid|-user)/.test(arg) || arg === "." || arg === ".*"))
    run.report("destructive", "kills-all", `${name} ends all processes of a user`);
  if (name === "killall5") run.report("destructive", "kills-all", "it ends every process");
  if (args.some(isUnknown))
    run.report("unknown", "unknown-arguments", `it is not known which processes ${name} ends`);
  return "";
};

const systemctl: Program = ({ run, args }) => {
  const words = args.filter((arg) => !arg.startsWith("-"));
  if (/^(?:status|show|cat|list-.*|is-.*|get-default|help)?$/.test(words[0] ?? "")) return undefined;
  if (/^(?:poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate)$/.test(words[0] ?? ""))
    run.report("destructive", "stops-machine", "it stops this machine");
  run.report(
    "privilege",
    "controls-services",
    `systemctl ${shown(words[0] ?? "")} controls services of the system`,
  );
  return "";
};

const fdisk: Program = ({ run, args, name }) => {
  if (args.some((arg) => /^(?:-l|--list|-p|--print|list|print|info|apfs-list)$/.test(arg))) return undefined;
  run.report("destructive", "changes-disks", `${name} changes how disks are divided or formatted`);
  return "";
};

const crontab: Program = ({ run, args, state, stdin }) => {
  if (args.includes("-l")) return undefined;
  if (args.includes("-r")) {
    run.report("destructive", "deletes", "crontab -r deletes all jobs");
    return "";
  }
  run.report("write", "persists", "crontab makes commands run later");
  const file = args.find((arg) => !arg.startsWith("-"));
  const text = file === undefined ? (stdin ?? "") : run.read(file, state);
  for (const line of text.split("\n").slice(0, 64)) {
    const command = /^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})\s*(.*)$/.exec(line)?.[1];
    if (command !== undefined) run.script(command, state.clone(), undefined);
    else if (line.trim() !== "" && !line.startsWith("#"))
      run.report("unknown", "runs-later", "it is not known what runs later");
  }
  if (stdin === undefined && file === undefined)
    run.report("unknown", "runs-later", "it is not known what runs later");
  return "";
};

/** `at` takes its commands from its input. */
const at: Program = ({ run, args, state, stdin }) => {
  if (args.includes("-l")) return undefined;
  run.report("write", "persists", "it makes commands run later");
  const index = args.indexOf("-f");
  run.script(
    index === -1 ? (stdin ?? "\uE000") : run.read(args[index + 1] ?? "", state),
    state.clone(),
    undefined,
  );
  return "";
};

const mount: Program = (call: Call) => {
  if (call.args.length === 0 || call.args.every((arg) => arg === "-l")) return undefined;
  return privileged("mounts", "changes what is mounted")(call);
};

const firewall: Program = ({ run, args, name }) => {
  if (args.some((arg) => /^(?:-L|-S|--list.*|status|list|show|--state)$/.test(arg))) return undefined;
  run.report("privilege", "changes-firewall", `${name} changes what the network lets through`);
  return "";
};

const sysctl: Program = ({ run, args }) => {
  if (!args.some((arg) => arg.includes("=") || /^-[wp]|^--(?:write|load|system)/.test(arg))) return undefined;
  run.report("privilege", "writes-kernel", "sysctl changes settings of the kernel");
  return "";
};

const ip: Program = (call) =>
  call.args.some((arg) => /^(?:add|del|delete|set|flush|change|replace|up|down|exec)$/.test(arg))
    ? privileged("changes-network", "changes the network of this machine")(call)
    : undefined;

const stops: Program = ({ run, name }) => {
  run.report("destructive", "stops-machine", `${name} stops this machine`);
  return "";
};

const logs: Program = ({ run, args, name }) => {
  if (args.some((arg) => /^(?:-c|-C|--clear|--vacuum-.*|--rotate|--flush)/.test(arg)))
    run.report("destructive", "deletes-logs", `${name} deletes logs`);
  return undefined;
};

/** Traces show what another process does and holds. */
const debuggers: Program = ({ run, args, name, state, stdin }) => {
  const attached = args.some((arg) => /^(?:-p|--pid|-p\d+|--attach.*)$/.test(arg));
  if (attached) run.report("privilege", "looks-into-process", `${name} looks into another process`);
  const told = args.flatMap((arg, index) => (/^-(?:ex|iex|x)$/.test(args[index - 1] ?? "") ? [arg] : []));
  for (const text of told) {
    const shell = /^(?:shell|!|make)\s*(.*)$/.exec(text)?.[1];
    if (shell !== undefined) run.script(shell, state.clone(), stdin);
    else run.report("unknown", "unknown-script", `${name} is told to run something`);
  }
  const separator = args.findIndex((arg) => /^(?:--args|--)$/.test(arg));
  if (separator !== -1) run.exec(args.slice(separator + 1), state.clone(), stdin);
  else if (!attached) run.report("unknown", "runs-file", `${name} runs a program`);
  return undefined;
};

const clipboard: Program = ({ run, stdin }) => {
  run.report("write", "changes-things", "it changes the clipboard");
  return stdin;
};

export const systemPrograms = [
  ...entries(
    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mke2fs mkswap mkdosfs newfs wipefs blkdiscard badblocks hdparm nvme",
    destructive("formats", "overwrites a disk"),
  ),
  ...entries(
    "fdisk sfdisk cfdisk gdisk sgdisk parted gparted diskutil cryptsetup lvremove vgremove pvremove zpool zfs mdadm",
    fdisk,
  ),
  ...entries("kill pkill killall killall5 skill xkill", kill),
  ...entries("shutdown reboot halt poweroff init telinit", stops),
  ...entries("systemctl", systemctl),
  ...entries(
    "service rc-service launchctl initctl",
    unless(
      /^(?:list|print|status|--status-all)?$/,
      privileged("controls-services", "controls services of the system"),
    ),
  ),
  ...entries("mount umount losetup swapoff swapon", mount),
  ...entries(
    "modprobe insmod rmmod kexec kldload depmod",
    privileged("changes-kernel", "changes the kernel"),
  ),
  ...entries("iptables ip6tables nft ufw firewall-cmd pfctl ebtables", firewall),
  ...entries("sysctl", sysctl),
  ...entries("ip ifconfig route nmcli networksetup", ip),
  ...entries(
    "setenforce aa-disable aa-teardown spctl csrutil auditctl",
    privileged("lowers-guard", "lowers the guard of the system"),
  ),
  ...entries("crontab", crontab),
  ...entries("at batch", at),
  ...entries("dmesg journalctl", logs),
  ...entries("gdb lldb", debuggers),
  ...entries("pbcopy xclip xsel wl-copy clip", clipboard),
  ...entries("gcore", privileged("looks-into-process", "looks into another process")),
];
