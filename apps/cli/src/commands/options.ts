import { displayText } from "@harnesskit/wire";
import { Command as CommanderCommand, Option } from "commander";
import { type ExitCode, usageError } from "../cli-error.ts";
import { io } from "../io.ts";

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

/** What every command is given. */
export interface CommandContext {
  readonly binPath: string;
  readonly version: string;
  readonly onExit: (code: ExitCode) => void;
}

/**
 * An action whose code is loaded when it is called: it gets the arguments, the options and the context, and returns the
 * exit code, or nothing. What reads few messages `isBrief`: to compile schemas would cost it more than it gains.
 */
export const loads =
  (context: CommandContext, load: () => Promise<(...given: never[]) => Promise<unknown>>, isBrief = true) =>
  async (...given: unknown[]): Promise<void> => {
    (await import("zod")).config({ jitless: isBrief });
    const run = await load();
    // The last one is the command itself.
    const code = await run(...([...given.slice(0, -1), context] as never[]));
    if (code !== undefined) context.onExit(code as ExitCode);
  };

/** For a command that can be left out: it also gets words that name no command. */
export const refuseWords = (_: unknown, command: Pick<Command, "args" | "error">): void => {
  const [word] = command.args;
  if (word !== undefined) command.error(`error: unknown command '${word}'`);
};

export const modelForms = "offline, anthropic:MODEL, openai:MODEL or openai-compatible:URL#MODEL";

export const approvals = ["ask", "once", "reject"];

export const whenBusy = ["reject", "queue", "interrupt"];

/** The coding agents of other vendors, by the ids of `@harnesskit/agent-hooks`, which help texts must not load. */
export const agentIds = ["claude-code", "codex", "gemini-cli", "cursor", "copilot-cli", "opencode"];

export const cwdOption = (): Option =>
  new Option("--cwd <dir>", "the directory to work in").default(io().cwd(), "here");

/** Collects the values of an option that can be given several times. */
export const severalTimes = (value: string, before: readonly string[] = []): string[] => [...before, value];

const invalidValue = (option: string, text: string, expected: string) =>
  usageError(`${option} must be ${expected}, got ${displayText(JSON.stringify(text), { maxLength: 100 })}`);

/** Reads a whole number from 0. */
export const wholeNumber =
  (option: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw invalidValue(option, text, "a whole number from 0");
  };

/** Reads a port; 0 stands for a free one. */
export const portNumber =
  (option: string) =>
  (text: string): number => {
    const port = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (port <= 65_535) return port;
    throw invalidValue(option, text, "a number from 0 to 65535");
  };

/** Agents whose tools a conversation has. */
const agentsOption = (): Option =>
  new Option(
    "--agents <dir>",
    "let the model use the tools of the agent in this directory, of an MCP server, mcp:COMMAND, mcp:URL or mcp:FILE.json, or of a core that runs, unix:PATH; can be given several times",
  ).argParser(severalTimes);

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Variables of this environment that commands see. */
const passEnvOption = (): Option =>
  new Option(
    "--pass-env <names>",
    "environment variables that commands see beside PATH, HOME and a few others, separated by commas, such as SSH_AUTH_SOCK,HTTPS_PROXY; each question about a command names them",
  ).argParser((text) => {
    const names = [...new Set(text.split(",").map((name) => name.trim()))];
    if (names.every((name) => variableName.test(name))) return names;
    throw invalidValue("--pass-env", text, "names of environment variables, separated by commas");
  });

/** Adds the options that choose the tools of a conversation, and what its commands see. */
export const addToolOptions = (command: Command): Command =>
  command
    .addOption(agentsOption())
    .option("--no-installed-agents", "without the agents that are installed and enabled (harness agents)")
    .addOption(passEnvOption());

export const maxSessionIdLength = 200;

/** Continues a conversation. */
export const sessionOption = (description: string): Option =>
  new Option("--session <id>", description).argParser((id) => {
    if (id !== "" && id.length <= maxSessionIdLength) return id;
    throw usageError(`--session: an id has 1 to ${maxSessionIdLength} characters`);
  });

const seconds = (text: string): number => {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw invalidValue("--policy-timeout", text, "a number of seconds");
};

/** How long a server that is lost is tried again. */
export const retryOption = (server: string): Option =>
  new Option(
    "--retry-for <seconds>",
    `how long to retry ${server} when the connection is lost; if given, also waits for a server that is not there yet (default: 60; 0: not at all)`,
  ).argParser(wholeNumber("--retry-for"));

/** Adds the options that choose the hub. */
export const addHubOptions = (command: Command): Command =>
  command
    .option("--hub <dir>", "the hub that judges, by the directory of its state (default: yours, if it runs)")
    .option("--no-hub", "do not ask the hub that runs");

/** Adds the options that choose the policy. */
export const addPolicyOptions = (command: Command): Command =>
  addHubOptions(
    command
      .option("--policy <file>", "the policy that judges prompts and tool calls (default: the shipped one)")
      .option("--no-policy", "no policy: only you are asked, before the agent writes files or runs commands"),
  )
    .option(
      "--ahp <endpoint>",
      "the harness that judges instead: stdio:COMMAND ARGS, unix:PATH, http(s)://… or ws(s)://…",
    )
    .option("--ahp-token-file <file>", "the token of --ahp (default: $HARNESS_AHP_TOKEN, if it is set)")
    .option(
      "--ahp-api-key-file <file>",
      "the API key of --ahp, instead of a token (default: $HARNESS_AHP_API_KEY, if it is set)",
    )
    .option(
      "--ahp-credentials-in-query",
      "send the credential of --ahp in the URL of its WebSocket, for harnesses that read no header",
    )
    .option(
      "--policy-timeout <seconds>",
      "how long a decision may take; after that the action is refused (default: 10)",
      seconds,
    );
