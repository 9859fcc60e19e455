import { fencesOf } from "./fences.mjs";

const fileName = (flags) =>
  flags.map((flag) => /^\[([\w./-]+)\]$/.exec(flag)?.[1]).find((name) => name !== undefined);

/**
 * The programs of a page: `files` are its fences with a name, such as ` ```js [client.mjs]`, and `commands` the lines of its shell
 * fences that start `node`, as arguments, in their order.
 */
export function pagePrograms(markdown) {
  const fences = fencesOf(markdown);
  const files = fences.flatMap(({ flags, code, language, line }) => {
    const name = fileName(flags);
    return name === undefined ? [] : [{ name, code, line, isProgram: language === "js" }];
  });
  const commands = fences
    .filter(({ language }) => language === "sh")
    .flatMap(({ code, line }) => code.split("\n").map((text, index) => ({ text, line: line + index })))
    .filter(({ text }) => text.startsWith("node "))
    .map(({ text, line }) => ({
      line,
      args: Array.from(text.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare).slice(1),
    }));
  return { files, commands };
}
