import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family } from "./spec.ts";

/** `tar xzf a.tar`: letters without a dash are options, too. */
const tar = ({ walk, scope, args, name }: Call, parsed: Parsed): undefined => {
  const archive = parsed.values("-f", "--file")[0];
  const creates = parsed.has("-c", "--create", "-r", "-u", "--append", "--update");
  const lists = parsed.has("-t", "--list");
  if (args.length === 0 || !(creates || lists || parsed.has("-x", "--extract", "--get")))
    walk.unknown("unknown-option", `it is not known what ${name} does`);
  if (archive !== undefined) {
    if (/^[^/]*:/.test(archive)) walk.unknown("unknown-path", "the archive may be on another machine");
    if (creates) walk.write(archive, scope);
    else walk.read(archive, scope);
  }
  if (creates) for (const path of parsed.operands) walk.tree(path, scope);
  if (!creates && !lists) {
    walk.report("write", "writes", `${name} unpacks files`);
    if (!parsed.has("-C", "--directory")) walk.write(".", scope);
  }
};

const tarOptions =
  "-[cxtruzjJavpkmOhS] -f=text -C=write --create --extract --get --list --append --update --file=text --gzip --gunzip --bzip2 --xz --zstd --verbose --directory=write --exclude=text --strip-components=number --keep-old-files --no-same-owner --no-same-permissions --to-stdout --wildcards --dereference --remove-files!destructive --recursive-unlink!destructive --anchored --transform=unknown --to-command=shell --checkpoint-action=unknown --checkpoint?=number --use-compress-program=shell -I=shell --rmt-command=shell --new-volume-script=shell --info-script=shell --index-file=write";

const packs = (what: string) => ["write", "writes", what] as const;

/** Archives and compression. */
export const archives: Family = {
  "tar gtar bsdtar": {
    options: tarOptions,
    operands: "text...",
    dashless: true,
    judge: tar,
  },
  "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress": {
    options:
      "-[cdfhklLnNqrtvT0123456789] --stdout --to-stdout --decompress --keep --force --list --test --verbose --quiet --best --fast",
    operands: "write...",
    does: packs("replaces files"),
    unless: "-c --stdout --to-stdout -l --list -t --test",
  },
  unzip: {
    options: "-[lvtqonjpZ1] -d=write -x=text",
    operands: "read text...",
    judge: ({ walk, scope }, parsed) => {
      if (parsed.has("-l", "-v", "-t", "-p", "-Z")) return undefined;
      walk.report("write", "writes", "unzip unpacks files");
      walk.write(parsed.values("-d")[0] ?? ".", scope);
      return undefined;
    },
  },
  zipinfo: { options: "-[12slmvhtzT]", operands: "read text..." },
  zip: {
    options: "-[rqvjy0123456789Xu] -x=text",
    operands: "write tree...",
    does: packs("makes an archive"),
  },
  "7z 7za rar unrar cpio pax ar": acts("unknown", "unknown-option", "packs or unpacks files"),
};
