import { Command as CommanderCommand } from "commander";

/** A command whose help ends with an example. */
export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds an example, and what is said below it. */
  example(text: string): this {
    return this.addHelpText("after", `\nExample:\n  ${text}`);
  }
}
