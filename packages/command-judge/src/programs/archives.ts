import type { Parsed } from "./parse-arguments.ts";
import type { Call, Family } from "./spec.ts";

/** `tar xzf a.tar`: letters without a dash are options, too. */
const tar = ({ walk, scope, args, name }: Call, parsed: Parsed): void => {
  const archive = parsed.values("-f", "--file")[0];
  const creates = parsed.has("-c", "--create", "-r", "-u", "--append", "--update");
  const lists = parsed.has("-t", "--list");
  if (args.length === 0 || !(creates || lists || parsed.has("-x", "--extract", "--get")))
    walk.unknown("unknown-option", `the policy cannot tell what ${name} does`);
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

/** Archives and compression. */
export const archives: Family = {
  "tar gtar bsdtar": {
    usage: `${tarOptions} text...`,
    dashless: true,
    judge: tar,
  },
  "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress": {
    usage:
      "-[cdfhklLnNqrtvT0123456789] --stdout --to-stdout --decompress --keep --force --list --test --verbose --quiet --best --fast write...",
    does: "write writes replaces files",
    unless: "-c --stdout --to-stdout -l --list -t --test",
  },
  unzip: {
    usage: "-[lvtqonjpZ1] -d=write -x=text read text...",
    judge: ({ walk, scope }, parsed) => {
      if (parsed.has("-l", "-v", "-t", "-p", "-Z")) return undefined;
      walk.report("write", "writes", "unzip unpacks files");
      walk.write(parsed.values("-d")[0] ?? ".", scope);
    },
  },
  zipinfo: "-[12slmvhtzT] read text...",
  zip: {
    usage: "-[rqvjy0123456789Xu] -x=text write tree...",
    does: "write writes makes an archive",
  },
  "7z 7za rar unrar cpio pax ar": "=> unknown unknown-option packs or unpacks files",
};
