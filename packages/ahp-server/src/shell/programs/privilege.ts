import type { Call, Program } from "../call.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const raises = ({ run, name }: Call): void => {
  run.report("privilege", "raises-privilege", `${name} runs things with the rights of another user`);
};

const sudo: Program = (call) => {
  const { run, state, stdin, args, name } = call;
  const options = readOptions(
    args,
    "u g h p C D R T U r t a c user group host prompt chdir chroot role type close-from",
    true,
  );
  raises(call);
  const words = [...options.operands];
  while (/^\w+=/.test(words[0] ?? "")) words.shift();
  if (options.has("e", "edit") || name === "sudoedit") for (const path of words) run.write(path, state);
  else if (words.length > 0 && options.has("s", "i", "shell", "login"))
    run.script(words.join(" "), state.clone(), stdin);
  else if (words.length > 0) return run.exec(words, state.clone(), stdin);
  else if (stdin !== undefined && options.has("s", "i", "shell", "login"))
    run.script(stdin, state.clone(), undefined);
  return undefined;
};

const su: Program = (call) => {
  const { run, state, stdin, args, name } = call;
  raises(call);
  const at = args.findIndex((arg) => /^(?:-[a-z]*c|--command(?:=.*)?)$/.test(arg));
  const joined = /^--command=(.*)$/s.exec(args[at] ?? "")?.[1];
  if (at !== -1) return run.script(joined ?? args[at + 1] ?? "", state.clone(), stdin);
  if (name === "runuser" || name === "sg") {
    const words = readOptions(args, "u g G s", true).operands;
    if (words.length > 0) run.exec(words, state.clone(), stdin);
  } else if (stdin !== undefined) run.script(stdin, state.clone(), undefined);
  return undefined;
};

const chroot: Program = (call) => {
  const { run, state, stdin, args, name } = call;
  run.report("privilege", "changes-root", `${name} runs things in another view of the system`);
  const options = readOptions(args, "t S G userspec groups target wd wdns", true);
  const words = name === "chroot" ? options.operands.slice(1) : options.operands;
  if (words.length > 0) run.exec(words, state.clone(), stdin);
  return undefined;
};

const accounts: Program = ({ run, name }) => {
  run.report("privilege", "changes-accounts", `${name} changes who may do what on this machine`);
  if (/^(?:user|group)del|^del/.test(name))
    run.report("destructive", "deletes-account", `${name} deletes an account`);
  return "";
};

export const privilegePrograms = [
  ...entries("sudo doas pkexec sudoedit gosu su-exec run0 please gksudo kdesudo dzdo", sudo, {
    transparent: true,
  }),
  ...entries("su runuser sg newgrp login", su),
  ...entries("chroot nsenter unshare setpriv capsh", chroot),
  ...entries(
    "useradd usermod userdel groupadd groupmod groupdel adduser addgroup deluser delgroup passwd chpasswd chsh chfn vipw vigr visudo gpasswd dscl pwck pam-auth-update",
    accounts,
  ),
];
