import { isUnknown, withoutGlobMark } from "../marks.ts";
import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family } from "./spec.ts";

const noteMode = ({ walk, name }: Call, mode: string): void => {
  if (/^[0-7]?[2467][0-7]{3}$/.test(mode) || /(?:^|,)[ugoa]*[+=][rwxXt]*s/.test(mode))
    walk.report("privilege", "setuid", `${name} gives a program the rights of its owner`);
  if (isUnknown(mode)) walk.unknown("unknown-word", `it is not known which rights ${name} gives`);
};

const remove = (call: Call, parsed: Parsed): undefined => {
  const { name, walk } = call;
  if (name === "rm" && parsed.has("-r", "-R", "--recursive", "--no-preserve-root"))
    walk.report(
      "destructive",
      "recursive-delete",
      `rm deletes folders with all that they hold: ${parsed.operands.join(" ")}`,
    );
};

/** What is copied or moved into a folder is a file of the same name there. */
const copy = (call: Call, parsed: Parsed): undefined => {
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

const change = (call: Call, parsed: Parsed): undefined => {
  const { walk, scope, name } = call;
  const words = [...parsed.operands, ...parsed.unknown];
  const [mode = ""] = words;
  for (const path of parsed.operands.slice(1)) walk.write(path, scope);
  if (name === "chmod") for (const word of words) noteMode(call, word);
  if (name === "chown" && /^(?:root|0)(?::|$)/.test(mode))
    walk.report("privilege", "root-owner", "it gives files to root");
};

const dd = ({ args, walk, scope }: Call): undefined => {
  for (const arg of args) {
    const [name = "", value = ""] = [arg.split("=")[0], arg.slice(arg.indexOf("=") + 1)];
    if (name === "if") walk.read(value, scope);
    else if (name === "of") {
      walk.write(value, scope);
      if (/^\/dev\/(?!null|stdout|stderr|tty|fd)/.test(value))
        walk.report("destructive", "writes-device", `dd writes to ${value}`);
    } else if (!/^(?:bs|count|skip|seek|status|conv|ibs|obs|iflag|oflag)$/.test(name))
      walk.unknown("unknown-word", `it is not known what ${arg} means for dd`);
  }
};

const copying =
  "-[abdfHilLnpPrRsTuvxZ] -S=text -t=write -m=text -o=text -g=text -D --archive --backup?=text --force --interactive --no-clobber --link --symbolic-link --dereference --no-dereference --preserve?=text --parents --recursive --remove-destination --strip-trailing-slashes --suffix=text --target-directory=write --no-target-directory --update?=text --verbose --one-file-system --mode=text --owner=text!privilege --group=text --directory --relative --symbolic --compare";
const rights =
  "-[cfhv] -R!destructive --changes --quiet --silent --verbose --recursive!destructive --no-dereference --dereference --preserve-root --reference=list --from=text -P -L -H";

/** Programs that change files. */
export const files: Family = {
  "rm unlink rmdir": {
    options:
      "-[rRfivdIp] --recursive --force --interactive?=text --verbose --dir --one-file-system --preserve-root --no-preserve-root!destructive --ignore-fail-on-non-empty --parents",
    operands: "delete...",
    judge: remove,
  },
  "mkdir touch mkfifo": {
    options:
      "-[pvacmhZ] -m=text -r=list -d=text -t=text --parents --verbose --mode=text --no-create --date=text --reference=list --time=text",
    operands: "write...",
  },
  mktemp: {
    options: "-[dqtu] -p=write --directory --suffix=text --tmpdir?=write",
    operands: "write",
    does: ["write", "writes", "makes a file"],
  },
  "dos2unix unix2dos sponge fallocate": { options: "-[knqal] -l=number", operands: "write..." },
  chattr: { operands: "unknown...", does: ["write", "changes-rights", "changes attributes of files"] },
  "cp mv ln install ditto gcp gmv": {
    options: copying,
    operands: "text...",
    does: ["write", "writes", "changes files"],
    judge: copy,
  },
  link: { operands: "read write" },
  "chmod chown chgrp": {
    options: rights,
    operands: "text...",
    does: ["write", "changes-rights", "changes who may use files"],
    judge: change,
  },
  setfacl: {
    options: "-m=text -x=text -R!destructive -b!destructive -k",
    operands: "write...",
    does: ["write", "changes-rights", "changes who may use files"],
  },
  setcap: acts("privilege", "setuid", "gives a program rights that its user does not have"),
  truncate: {
    options: "-[co] -s=text -r=list --size=text --reference=list --no-create",
    operands: "write...",
    does: ["destructive", "truncates", "deletes the content of files"],
  },
  "shred wipe srm scrub": {
    options: "-[fuvxz] -n=number -s=text --iterations=number --remove?=text --zero --verbose --force",
    operands: "delete...",
    does: ["destructive", "shreds", "makes files unreadable"],
  },
  "dd dcfldd": { style: "words", judge: dd },
  patch: {
    options:
      "-[bEfRNstu] -p=number -i=read -d=write -o=write --dry-run --reverse --forward --strip=number --input=read --verbose --backup",
    operands: "write read",
    does: ["write", "writes", "changes the files that a patch names"],
    judge: ({ walk, scope }) => {
      walk.write(".", scope);
      return undefined;
    },
  },
};
