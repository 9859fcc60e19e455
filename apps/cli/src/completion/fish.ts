import {
  allCommands,
  type CommandSpec,
  nameOf,
  type OptionSpec,
  short,
  type ValueSpec,
} from "./command-spec.ts";

/** Fish knows \\\\ and \\' in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const valueArguments = (value: ValueSpec): string => {
  if (value === "files") return "-r -F";
  if (value === "directories") return "-x -a '(__fish_complete_directories)'";
  return value === "any" ? "-x" : `-x -a ${quoted(value.join(" "))}`;
};

const flag = (name: string): string =>
  name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;

/** A script for fish that completes the commands, options and values of the program. */
export const fishCompletion = (program: CommandSpec): string => {
  const commands = allCommands(program);
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const complete = (path: string, rest: string, description: string): string =>
    `complete -c harness -n ${quoted(`__harness_at "${path}"`)} ${rest} -d ${quoted(short(description))}`;
  const optionLine = (path: string, { flags, description, value }: OptionSpec): string =>
    complete(
      path,
      [...flags.map(flag), ...(value === undefined ? [] : [valueArguments(value)])].join(" "),
      description,
    );
  const lines = commands.flatMap((command) => {
    const { path, argument, options } = command;
    const words = command.commands.map((one) => complete(path, `-a ${nameOf(one)}`, one.description));
    const values =
      words.length > 0 || argument === undefined || argument === "any"
        ? []
        : [complete(path, argument === "files" ? "-F" : valueArguments(argument), command.description)];
    return [...words, ...values, ...options.map((option) => optionLine(path, option))];
  });
  return `# fish completion for harness. To use it: harness completion fish | source
function __harness_at
    set -l at ''
    set -l tokens (commandline -opc)
    for token in $tokens[2..-1]
        set -l next (string trim -- "$at $token")
        switch $next
            case ${paths.join(" ")}
                set at $next
        end
    end
    test "$at" = "$argv[1]"
end

complete -c harness -f
${lines.join("\n")}
`;
};
