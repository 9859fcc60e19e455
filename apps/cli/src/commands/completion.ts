import { Argument } from "commander";
import { createTerminal } from "../terminal/terminal.ts";
import type { Command } from "./help-command.ts";

/** `harness completion`, and the hidden command that its scripts call. */
export const addCompletion = (program: Command): void => {
  program
    .command("completion")
    .description("print a script that completes commands, options and files in your shell")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(["bash", "zsh", "fish"]))
    .example(`source <(harness completion bash)        # in ~/.bashrc
  source <(harness completion zsh)         # in ~/.zshrc, after compinit
  harness completion fish | source         # in ~/.config/fish/config.fish`)
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { completionScripts } = await import("../completion/completion-scripts.ts");
      createTerminal().write(completionScripts[shell]);
    });

  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      const { completionLines } = await import("../completion/completions.ts");
      createTerminal().write(completionLines(program, words));
    });
};
