import { fencesOf } from "./fences.mjs";

const fileName = (flags) =>
  flags.map((flag) => /^\[([\w./[\]-]+)\]$/.exec(flag)?.[1]).find((name) => name !== undefined);

/** The words of a command line; what is between quotes is one. */
const wordsOf = (text) =>
  Array.from(
    text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, bare]) => double ?? single ?? bare,
  );

const codesIn = (comment) => comment.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];

/** The codes, such as `already_resolved`, that a program says it prints: in the comment at the end of a line with `console.log`. */
export const printedCodes = (program) =>
  Array.from(program.matchAll(/console\.log\(.*\/\/ (.*)$/gm), ([, comment]) => codesIn(comment)).flat();

/**
 * The programs of a page: `files` are its fences with a name, such as ` ```js [client.mjs]`, and `commands` the lines of its shell
 * fences that start `node` or, as `bin`, a command of ours through `npx`, as arguments, in their order. A comment may end a line:
 * `# … exit code N` gives the code that the command ends with, and codes in it (`printed`) are those that it prints. A fence with `no-run` has none.
 */
export function pagePrograms(markdown) {
  const fences = fencesOf(markdown);
  const files = fences.flatMap(({ flags, code, language, line }) => {
    const name = fileName(flags);
    return name === undefined ? [] : [{ name, code, line, isProgram: language === "js" }];
  });
  const commands = fences
    .filter(({ language, flags }) => language === "sh" && !flags.includes("no-run"))
    .flatMap(({ code, line }) => code.split("\n").map((text, index) => ({ text, line: line + index })))
    .filter(({ text }) => /^(?:node|npx harness(?:kit-conformance)?) /.test(text))
    .map(({ text, line }) => {
      const [command, comment = ""] = text.split(/\s+#\s(.*)$/);
      const [program, ...args] = wordsOf(command);
      const code = /exit code (\d+)/.exec(comment)?.[1];
      const common = {
        line,
        printed: codesIn(comment),
        ...(code !== undefined && { exitCode: Number(code) }),
      };
      return program === "node" ? { ...common, args } : { ...common, bin: args[0], args: args.slice(1) };
    });
  return { files, commands };
}
