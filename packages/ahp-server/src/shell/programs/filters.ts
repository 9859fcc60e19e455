import type { Call, Program } from "../call.ts";
import { decodeBase32, decodeBase64, decodeHex, printfText, translate, unescapeEcho } from "../decoders.ts";
import { maxTextLength } from "../limits.ts";
import { isExact, shown, taintOf } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const cut = (text: string): string => (text.length > maxTextLength ? taintOf(text) : text);

/** What a filter gets: its files, or its standard input. */
const inputOf = (call: Call, files: readonly string[]): string => {
  if (files.length === 0) return call.stdin ?? "";
  return cut(
    files.map((path) => (path === "-" ? (call.stdin ?? "") : call.run.read(path, call.state))).join(""),
  );
};

/** A filter of a known text gives a known text; of any other only its mark. */
const through = (input: string, change: (text: string) => string | undefined): string =>
  isExact(input) ? cut(change(input) ?? taintOf(input)) : taintOf(input);

const echo: Program = ({ args }) => {
  let escapes = false;
  let newline = "\n";
  let rest = args;
  while (/^-[neE]+$/.test(rest[0] ?? "")) {
    const flags = rest[0] ?? "";
    if (flags.includes("e")) escapes = true;
    if (flags.includes("E")) escapes = false;
    if (flags.includes("n")) newline = "";
    rest = rest.slice(1);
  }
  const text = rest.join(" ");
  return cut((escapes ? unescapeEcho(text) : text) + newline);
};

const printf: Program = ({ args, state }) => {
  if (args[0] === "-v" && args[1] !== undefined) {
    state.variables.set(args[1], [printfText(args[2] ?? "", args.slice(3))]);
    return "";
  }
  const rest = args[0] === "--" ? args.slice(1) : args;
  return cut(printfText(rest[0] ?? "", rest.slice(1)));
};

const cat: Program = (call) => inputOf(call, readOptions(call.args).operands);

const base: Program = (call) => {
  const options = readOptions(call.args, "w wrap i o input output");
  for (const path of options.values("o", "output")) call.run.write(path, call.state);
  const input = inputOf(call, [...options.operands, ...options.values("i", "input")]);
  if (!options.has("d", "D", "decode")) return through(input, () => undefined);
  return through(input, call.name === "base32" ? decodeBase32 : decodeBase64);
};

const xxd: Program = (call) => {
  const options = readOptions(call.args, "c g l o s cols groupsize len offset seek");
  const [source, target] = options.operands;
  const input = inputOf(call, source === undefined ? [] : [source]);
  if (target !== undefined) call.run.write(target, call.state);
  return through(input, (text) => (options.has("r", "revert") ? decodeHex(text) : undefined));
};

const tr: Program = (call) => {
  const options = readOptions(call.args);
  const [from = "", to = ""] = options.operands;
  const plain = !options.has("c", "C", "s", "t");
  return through(call.stdin ?? "", (text) =>
    plain ? translate(text, from, options.has("d") ? undefined : to) : undefined,
  );
};

const reverse: Program = (call) => {
  const input = inputOf(call, readOptions(call.args).operands);
  const lines = (text: string): string[] => text.replace(/\n$/, "").split("\n");
  return through(input, (text) =>
    call.name === "tac"
      ? `${lines(text).reverse().join("\n")}\n`
      : `${lines(text)
          .map((line) => [...line].reverse().join(""))
          .join("\n")}\n`,
  );
};

const openssl: Program = (call) => {
  const [command = "", ...rest] = call.args;
  const after = (name: string): string | undefined => rest[rest.indexOf(name) + 1];
  const files = rest.includes("-in") ? [after("-in") ?? ""] : [];
  if (command === "s_client" || command === "s_server") {
    call.run.noteNetwork();
    call.run.report("exfiltration", "network-channel", "openssl opens a connection that carries its input");
    return undefined;
  }
  if (
    !/^(?:base64|enc|dgst|md5|sha\d+|version|x509|rand|asn1parse|ciphers|list|errstr|prime|crl|verify)?$/.test(
      command,
    )
  )
    call.run.report("unknown", "unknown-program", `it is not known what openssl ${shown(command)} does`);
  if (
    rest.some((each) =>
      /^--?(?:engine|provider(?:-path)?|config|writerand|sign|signature|CA\w*|req|signkey)$/.test(each),
    )
  )
    call.run.report("unknown", "unknown-arguments", "openssl loads code, signs or writes further files");
  const input = inputOf(call, files);
  if (rest.includes("-out")) call.run.write(after("-out") ?? "", call.state);
  const decodes =
    (command === "base64" || rest.includes("-base64") || rest.includes("-a")) && rest.includes("-d");
  const encrypted = rest.some((each) => /^-(?:aes|des|camellia|aria|k$|pass)/.test(each));
  return through(input, (text) => (decodes && !encrypted ? decodeBase64(text) : undefined));
};

/** Filters that only pass on a part of their input. */
const lossy: Program = (call) => {
  const options = readOptions(call.args, "f t o from-code to-code output output-file");
  for (const path of options.values("o", "output", "output-file")) call.run.write(path, call.state);
  if (call.name === "uudecode")
    call.run.report("unknown", "unknown-path", "uudecode writes the file that its input names");
  return taintOf(inputOf(call, options.operands));
};

export const filterPrograms = [
  ...entries("echo", echo),
  ...entries("printf", printf),
  ...entries("cat", cat),
  ...entries("base64 base32", base),
  ...entries("xxd", xxd),
  ...entries("tr", tr),
  ...entries("rev tac", reverse),
  ...entries("openssl", openssl),
  ...entries("iconv uudecode uuencode", lossy),
];
