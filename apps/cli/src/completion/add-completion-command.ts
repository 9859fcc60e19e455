import { Argument, type Command } from "commander";
import { createTerminal } from "../terminal/terminal.ts";

/** The command `completion`, which knows all commands that the program has when it is called. */
export const addCompletionCommand = (program: Command): void => {
  program
    .command("completion")
    .description("print a script that completes commands, options and files in your shell")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `\nExample:
  source <(harness completion bash)        # in ~/.bashrc
  source <(harness completion zsh)         # in ~/.zshrc, after compinit
  harness completion fish | source         # in ~/.config/fish/config.fish`,
    )
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { completionScript } = await import("./completion-script.ts");
      createTerminal().write(completionScript(shell, program));
    });
};
