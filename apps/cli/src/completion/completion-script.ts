import type { Command } from "commander";
import { bashCompletion } from "./bash.ts";
import { toCommandSpec } from "./command-spec.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** The completion script of a shell for a program, made from its command definitions. */
export const completionScript = (shell: keyof typeof scripts, program: Command): string =>
  scripts[shell](toCommandSpec(program));
