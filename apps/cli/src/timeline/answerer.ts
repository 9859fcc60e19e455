import { oneLine } from "../terminal/text.ts";

/** The commands in which a user answers; with an option, such as `harness run --approve once`, none was asked. */
const askingCommands: ReadonlySet<string> = new Set(
  ["run", "attach", "chat", "shell", "inbox"].map((command) => `harness ${command}`),
);

/** Who answered a question, as people read it: the user of a terminal, or the client by its name. Safe text. */
export const answererText = (name: string): string =>
  askingCommands.has(name) ? `you, in ${name}` : oneLine(name, 100);
