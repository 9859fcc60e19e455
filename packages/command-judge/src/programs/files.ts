import { isUnknown, withoutGlobMark } from "../marks.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family } from "./spec.ts";

const noteMode = ({ walk, name }: Call, mode: string): void => {
  if (/^[0-7]?[2467][0-7]{3}$/.test(mode) || /(?:^|,)[ugoa]*[+=][rwxXt]*s/.test(mode))
    walk.report("privilege", "setuid", `${name} makes a program run with the rights of its owner`);
  if (isUnknown(mode)) walk.unknown("unknown-word", `the policy cannot tell which rights ${name} grants`);
};

const remove = (call: Call, parsed: Parsed): void => {
  const { name, walk } = call;
  if (name === "rm" && parsed.has("-r", "-R", "--recursive", "--no-preserve-root"))
    walk.report(
      "destructive",
      "recursive-delete",
      `rm deletes folders with all that they hold: ${parsed.operands.join(" ")}`,
    );
};

/** What is copied or moved into a folder is a file of the same name there. */
const copy = (call: Call, parsed: Parsed): void => {
  const { walk, scope, name } = call;
  const [folder] = parsed.values("-t", "--target-directory");
  const target = folder ?? parsed.operands.at(-1);
  const sources = folder === undefined ? parsed.operands.slice(0, -1) : parsed.operands;
  for (const path of sources) {
    if (name === "mv") walk.write(path, scope);
    if (parsed.has("-r", "-R", "-a", "--recursive", "--archive")) walk.tree(path, scope);
    else walk.read(path, scope);
    const base = /[^/]+$/.exec(withoutGlobMark(path))?.[0];
    if (base !== undefined && target !== undefined) walk.write(`${target}/${base}`, scope);
  }
  if (target !== undefined) walk.write(target, scope);
  if (name === "ln" && sources.length === 0 && target !== undefined) walk.list(target, scope);
  if (name === "mv" && target === "/dev/null")
    walk.report("destructive", "deletes", "it moves files into nothing");
  for (const mode of parsed.values("-m", "--mode")) noteMode(call, mode);
};

const judgeModeChange = (call: Call, parsed: Parsed): void => {
  const { walk, scope, name } = call;
  const words = [...parsed.operands, ...parsed.unknown];
  const [mode = ""] = words;
  for (const path of parsed.operands.slice(1)) walk.write(path, scope);
  if (name === "chmod") for (const word of words) noteMode(call, word);
  if (name === "chown" && /^(?:root|0)(?::|$)/.test(mode))
    walk.report("privilege", "root-owner", "it makes root the owner of files");
};

const dd = ({ args, walk, scope }: Call): void => {
  for (const arg of args) {
    const [name = "", value = ""] = [arg.split("=")[0], arg.slice(arg.indexOf("=") + 1)];
    if (name === "if") walk.read(value, scope);
    else if (name === "of") {
      walk.write(value, scope);
      if (/^\/dev\/(?!null|stdout|stderr|tty|fd)/.test(value))
        walk.report("destructive", "writes-device", `dd writes to ${value}`);
    } else if (!/^(?:bs|count|skip|seek|status|conv|ibs|obs|iflag|oflag)$/.test(name))
      walk.unknown("unknown-word", `the policy cannot tell what ${arg} means for dd`);
  }
};

const copying =
  "-[abdfHilLnpPrRsTuvxZ] -S=text -t=write -m=text -o=text -g=text -D --archive --backup?=text --force --interactive --no-clobber --link --symbolic-link --dereference --no-dereference --preserve?=text --parents --recursive --remove-destination --strip-trailing-slashes --suffix=text --target-directory=write --no-target-directory --update?=text --verbose --one-file-system --mode=text --owner=text!privilege --group=text --directory --relative --symbolic --compare";
const rights =
  "-[cfhv] -R!destructive --changes --quiet --silent --verbose --recursive!destructive --no-dereference --dereference --preserve-root --reference=list --from=text -P -L -H";

/** Programs that change files. */
export const files: Family = {
  "rm unlink rmdir": {
    usage:
      "-[rRfivdIp] --recursive --force --interactive?=text --verbose --dir --one-file-system --preserve-root --no-preserve-root!destructive --ignore-fail-on-non-empty --parents delete...",
    judge: remove,
  },
  "mkdir touch mkfifo":
    "-[pvacmhZ] -m=text -r=list -d=text -t=text --parents --verbose --mode=text --no-create --date=text --reference=list --time=text write...",
  mktemp: "-[dqtu] -p=write --directory --suffix=text --tmpdir?=write write => write writes makes a file",
  "dos2unix unix2dos sponge fallocate": "-[knqal] -l=number write...",
  chattr: "unknown... => write changes-rights changes attributes of files",
  "cp mv ln install ditto gcp gmv": {
    usage: `${copying} text...`,
    does: "write writes changes files",
    judge: copy,
  },
  link: "read write",
  "chmod chown chgrp": {
    usage: `${rights} text...`,
    does: "write changes-rights changes who may use files",
    judge: judgeModeChange,
  },
  setfacl:
    "-m=text -x=text -R!destructive -b!destructive -k write... => write changes-rights changes who may use files",
  setcap: "=> privilege setuid grants a program rights that its user does not have",
  truncate:
    "-[co] -s=text -r=list --size=text --reference=list --no-create write... => destructive truncates deletes the content of files",
  "shred wipe srm scrub":
    "-[fuvxz] -n=number -s=text --iterations=number --remove?=text --zero --verbose --force delete... => destructive shreds makes files unreadable",
  "dd dcfldd": { style: "words", judge: dd },
  patch: {
    usage:
      "-[bEfRNstu] -p=number -i=read -d=write -o=write --dry-run --reverse --forward --strip=number --input=read --verbose --backup write read",
    does: "write writes changes the files that a patch names",
    judge: ({ walk, scope }) => {
      walk.write(".", scope);
    },
  },
};
