import type { Command, Option } from "commander";

/** What can be completed for a value: nothing that is known, files, directories, or one of some words. */
export type ValueSpec = "any" | "files" | "directories" | readonly string[];

/** An option as a shell completes it. */
export interface OptionSpec {
  /** `-h` and `--help`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** What its value is; undefined for one without a value. */
  readonly value: ValueSpec | undefined;
}

/** A command as a shell completes it. */
export interface CommandSpec {
  /** The words that name it: `""` for the program, `"ahp serve"`. */
  readonly path: string;
  readonly description: string;
  readonly options: readonly OptionSpec[];
  readonly commands: readonly CommandSpec[];
  /** What its arguments are; undefined for a command without arguments. */
  readonly argument: ValueSpec | undefined;
}

const kindOf = (name: string, choices: readonly string[] | undefined): ValueSpec => {
  if (choices) return choices;
  if (/^dir/.test(name)) return "directories";
  return /file|path|audit|event/.test(name) ? "files" : "any";
};

const toOption = (option: Option): OptionSpec => {
  const name = /<([^>]+)>|\[([^\]]+)\]/.exec(option.flags)?.slice(1).find(Boolean);
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null) as string[],
    description: option.description,
    value: name === undefined ? undefined : kindOf(name, option.argChoices),
  };
};

/** The definition of a command with all commands below it, as commander shows it in the help. */
export const toCommandSpec = (
  command: Command,
  parent?: { readonly path: string; readonly names: readonly string[] },
): CommandSpec => {
  const path = parent === undefined ? "" : `${parent.path} ${command.name()}`.trim();
  const names = command.commands.map((one) => one.name());
  const help = command.createHelp();
  const [argument] = command.registeredArguments;
  // `help` completes the commands that it explains.
  const explained = command.name() === "help" ? parent?.names : undefined;
  return {
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(toOption),
    commands: help.visibleCommands(command).map((one) => toCommandSpec(one, { path, names })),
    argument: explained ?? (argument && kindOf(argument.name(), argument.argChoices)),
  };
};

/** A command and all commands below it. */
export const allCommands = (spec: CommandSpec): CommandSpec[] => [
  spec,
  ...spec.commands.flatMap(allCommands),
];

/** A name as a shell's function knows a command: its last word. */
export const nameOf = ({ path }: CommandSpec): string => path.split(" ").at(-1) ?? "";

/** A text as one word of a shell, in single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A description that fits beside a word. */
export const short = (description: string): string => {
  const [first = ""] = description.split(/[;:(]/);
  return first.trim().slice(0, 70);
};
