/** A language model that an example names, and the variable that its key is read from. */
const exampleModel = "anthropic:claude-sonnet-4-5";
const exampleKey = "ANTHROPIC_API_KEY";

/** A command that uses a language model in place of the offline planner. */
export const languageModelCommand = (command = "run", argument = ' "describe this repository"'): string =>
  `${exampleKey}=KEY harness ${command} --model ${exampleModel}${argument}`;

/** What the offline planner says about how to use a language model. */
export const languageModelHint = (command?: string, argument?: string): string =>
  `For anything else use a language model: ${languageModelCommand(command, argument)}`;
