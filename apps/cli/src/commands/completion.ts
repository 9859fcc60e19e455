import { Argument, type Option } from "commander";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import type { Command } from "./options.ts";

// Behind `--`, because bash adds words of the line, and an option among them is not for this command.
const asksHarness = "complete -o bashdefault -o default -C 'harness complete --' harness\n";

/** What a shell reads: it asks `harness complete`, and completes a file where that has nothing to say. */
const scripts = {
  bash: asksHarness,
  zsh: `autoload -U +X bashcompinit && bashcompinit\n${asksHarness}`,
  fish: "complete -c harness -a '(env COMP_LINE=(commandline -cp) harness complete)'\n",
};

/** The words that can stand at the end of a line: commands, options, or the values of an option or an argument that has few. */
const completions = (program: Command, line: string): string[] => {
  const words = line.trimStart().split(/[\s=]+/);
  const current = words.at(-1) ?? "";
  const before = words.slice(1, -1);
  let command: Command = program;
  for (const word of before)
    command = (command.commands.find((one) => one.name() === word) as Command) ?? command;
  const help = command.createHelp();
  const options: Option[] = help.visibleOptions(command);
  const named = options.find(({ long, short }) => [long, short].includes(before.at(-1)));
  const takesValue = named !== undefined && (named.required || named.optional);
  const found = takesValue
    ? (named.argChoices ?? [])
    : current.startsWith("-")
      ? options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat())
      : [
          ...help.visibleCommands(command).map((one) => one.name()),
          ...(command.registeredArguments[0]?.argChoices ?? []),
        ];
  return found.filter((word) => word.startsWith(current));
};

/** `harness completion`, and the hidden command that shells call. */
export const addCompletion = (program: Command): void => {
  program
    .command("completion")
    .description("print what completes commands and options in your shell")
    .addArgument(new Argument("<shell>", "the shell that reads it").choices(["bash", "zsh", "fish"]))
    .example(`source <(harness completion bash)        # in ~/.bashrc
  source <(harness completion zsh)         # in ~/.zshrc, after compinit
  harness completion fish | source         # in ~/.config/fish/config.fish`)
    .action((shell: keyof typeof scripts) => createTerminal().write(scripts[shell]));

  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action(() => {
      const { COMP_LINE: line = "", COMP_POINT: end } = io().env;
      const words = completions(program, line.slice(0, end === undefined ? undefined : Number(end)));
      createTerminal().write(words.map((word) => `${word}\n`).join(""));
    });
};
