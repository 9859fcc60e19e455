import type { Command } from "commander";

interface Candidate {
  readonly word: string;
  readonly description: string;
}

type Values = ":files" | ":directories" | readonly Candidate[];

const valuesOf = (name: string, choices: readonly string[] | undefined): Values => {
  if (choices) return choices.map((word) => ({ word, description: "" }));
  if (/^dir/.test(name)) return ":directories";
  return /file|path|audit|event|place/.test(name) ? ":files" : [];
};

const subcommands = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ word: one.name(), description: one.description() }));

const argumentsOf = (command: Command): Values => {
  // `help` completes the commands that it explains.
  if (command.name() === "help" && command.parent) return subcommands(command.parent);
  const below = subcommands(command);
  const [argument] = command.registeredArguments;
  return below.length > 0 || !argument ? below : valuesOf(argument.name(), argument.argChoices);
};

const completions = (program: Command, words: readonly string[]): { values: Values; prefix: string } => {
  // Bash passes the sign of `--option=value` as a word of its own; the other shells pass one word.
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => word !== "=");
  const [, joined, written] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  let command = program;
  for (const word of before) command = command.commands.find((one) => one.name() === word) ?? command;
  const options = command.createHelp().visibleOptions(command);
  const named = joined ?? before.at(-1);
  const option = options.find(({ short, long }) => named !== undefined && [short, long].includes(named));
  const [, value] = /[<[]([^>\]]+)[>\]]/.exec(option?.flags ?? "") ?? [];
  if (value !== undefined) {
    const found = valuesOf(value, option?.argChoices);
    const isJoined = joined !== undefined && typeof found !== "string";
    const values = isJoined ? found.map((one) => ({ ...one, word: `${joined}=${one.word}` })) : found;
    return { values, prefix: isJoined ? `${joined}=${written}` : current === "=" ? "" : current };
  }
  if (!current.startsWith("-")) return { values: argumentsOf(command), prefix: current };
  const flags = options.flatMap(({ short, long, description }) =>
    [short, long].flatMap((flag) => (flag ? [{ word: flag, description }] : [])),
  );
  return { values: flags, prefix: current };
};

/** The candidates for the last word, each a line `WORD<tab>DESCRIPTION`; or one line `:files` or `:directories`. */
export const completionLines = (program: Command, words: readonly string[]): string => {
  const { values, prefix } = completions(program, words);
  if (typeof values === "string") return `${values}\n`;
  return values
    .filter(({ word }) => word.startsWith(prefix))
    .map(({ word, description }) => `${word}\t${description.split(/[;:(]/)[0]?.trim().slice(0, 70)}\n`)
    .join("");
};
