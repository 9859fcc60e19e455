import { displayText } from "@harnesskit/wire";
import { Command as CommanderCommand, CommanderError, type HelpContext, Option } from "commander";
import { ExitCode, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapPage } from "../terminal/text.ts";

const invalidValue = (option: string, text: string, expected: string) =>
  usageError(`${option} must be ${expected}, got ${displayText(JSON.stringify(text), { maxLength: 100 })}`);

const nameOf = (flags: string): string => flags.split(" ")[0] ?? flags;

const severalTimes = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Columns of a help text: those of the terminal, or the usual ones where there is none. */
export const helpWidth = (stream: NodeJS.WriteStream): number => createTerminal(stream).columns ?? 80;

/** A command whose help ends with an example, and whose code is loaded when it is called. */
export class Command extends CommanderCommand {
  /** Of the program: what the command that was called has returned. */
  exitCode: ExitCode = ExitCode.done;

  constructor(name?: string) {
    super(name);
    this.addHelpText("before", () => {
      this.#requireCommand();
      return "";
    });
  }

  /** The help of a command that does not exist is not that of its parent. */
  #requireCommand(): void {
    const [word = "-"] = this.args;
    if (this.commands.length === 0 || word.startsWith("-")) return;
    if (!this.commands.some((one) => [one.name(), ...one.aliases(), "help"].includes(word)))
      this.error(`error: unknown command '${word}'`);
  }

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds an example, and what is said below it, as {@link wrapPage} takes it. */
  example(text: string): this {
    return this.addHelpText("after", ({ error }) =>
      wrapPage(`\nExample:\n  ${text}`, helpWidth(error ? io().stderr : io().stdout)),
    );
  }

  /** Shows help in the place of what was called, and ends. Commander would take the exit code of the process, which has none yet. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    const error = typeof context === "object" && context.error === true;
    this.outputHelp({ error });
    throw new CommanderError(error ? ExitCode.usage : ExitCode.done, "help", "help");
  }

  /**
   * Calls what `load` resolves with: it gets the arguments, the options and the program's version, and returns the exit code, or nothing.
   * What reads few messages `isBrief`: to compile schemas would cost it more than it gains.
   */
  runs(load: () => Promise<(...given: never[]) => Promise<unknown>>, isBrief = true): this {
    return this.action(async (...given: unknown[]) => {
      (await import("zod")).config({ jitless: isBrief });
      const run = await load();
      let program: Command = this;
      while (program.parent instanceof Command) program = program.parent;
      // The last one is the command itself.
      const code = await run(...([...given.slice(0, -1), { version: program.version() }] as never[]));
      if (code !== undefined) program.exitCode = code as ExitCode;
    });
  }

  /** The option before has one of these values. */
  oneOf(values: readonly string[]): this {
    this.options.at(-1)?.choices(values);
    return this;
  }

  /** The option before cannot be used with these, which are named as the properties of options. */
  notWith(...names: readonly string[]): this {
    this.options.at(-1)?.conflicts([...names]);
    return this;
  }

  /** The option before must be given. */
  required(): this {
    this.options.at(-1)?.makeOptionMandatory();
    return this;
  }

  /** An option that can be given several times. */
  several(flags: string, description: string): this {
    return this.option(flags, `${description}; can be given several times`, severalTimes);
  }

  /** An option with a whole number from 0. */
  number(flags: string, description: string, value?: number): this {
    const read = (text: string): number => {
      if (/^\d{1,15}$/.test(text)) return Number(text);
      throw invalidValue(nameOf(flags), text, "a whole number from 0");
    };
    return this.option(flags, description, read, value);
  }

  /** An option with a port; 0 stands for a free one. */
  port(flags: string, description: string): this {
    return this.option(flags, description, (text: string): number => {
      const port = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (port <= 65_535) return port;
      throw invalidValue(nameOf(flags), text, "a number from 0 to 65535");
    });
  }

  /** An option with a time span such as `30d`, which becomes milliseconds. */
  age(flags: string, description: string): this {
    return this.option(flags, `${description}: 30d, 12h or 90m`, (text: string): number => {
      const ms = readAgeMs(text);
      if (ms !== undefined) return ms;
      throw usageError(`${nameOf(flags)}: ${text} is not an age`, "Write it as 30d, 12h or 90m");
    });
  }

  cwd(): this {
    return this.addOption(new Option("--cwd <dir>", "the directory to work in").default(io().cwd(), "here"));
  }

  json(description = "one JSON document"): this {
    return this.option("--json", description);
  }

  /** `--store`; `what` says what is kept there, and `files` how files are named, where they can be. */
  store(what: string, files = "a file, sqlite:FILE, "): this {
    return this.option(
      "--store <place>",
      `${what}: ${files}postgres://USER@HOST/DATABASE, or postgres: for the URL in $HARNESS_STORE, which may hold a password`,
    );
  }

  /** The command that runs where none is named. It also gets words that name no command, which are refused. */
  defaultCommand(name: string): Command {
    const command = this.command(name, { isDefault: true });
    return command.allowExcessArguments().hook("preAction", () => {
      const [word] = command.args;
      if (word !== undefined) command.error(`error: unknown command '${word}'`);
    });
  }

  /** `--session`, which continues a conversation. */
  session(description: string): this {
    return this.option("--session <id>", description, (id: string) => {
      if (id !== "" && id.length <= maxSessionIdLength) return id;
      throw usageError(`--session: an id has 1 to ${maxSessionIdLength} characters`);
    });
  }

  /** `--retry-for`: how long a server that is lost is tried again. */
  retry(server: string): this {
    return this.number(
      "--retry-for <seconds>",
      `how long to retry ${server} when the connection is lost; if given, also waits for a server that is not there yet (default: 60; 0: not at all)`,
    );
  }

  /** The options that choose the tools of a conversation, and what its commands see. */
  tools(): this {
    return this.several(
      "--agents <dir>",
      "let the model use the tools of the agent in this directory, of an MCP server, mcp:COMMAND, mcp:URL or mcp:FILE.json, or of a core that runs, unix:PATH",
    )
      .option("--no-installed-agents", "without the agents that are installed and enabled (harness agents)")
      .option(
        "--pass-env <names>",
        "environment variables that commands see beside PATH, HOME and a few others, separated by commas, such as SSH_AUTH_SOCK,HTTPS_PROXY; each question about a command names them",
        readVariables,
      );
  }

  /** The options that choose the hub. */
  hub(): this {
    return this.option(
      "--hub <dir>",
      "the hub that judges, by the directory of its state (default: yours, if it runs)",
    ).option("--no-hub", "do not ask the hub that runs");
  }

  /** The options that choose the policy. */
  policy(): this {
    return this.option(
      "--policy <file>",
      "the policy that judges prompts and tool calls (default: the shipped one)",
    )
      .option("--no-policy", "no policy: only you are asked, before the agent writes files or runs commands")
      .hub()
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
        readSeconds,
      );
  }
}

const unitsMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** The milliseconds of `30d`, `12h` or `90m`; undefined for anything else. */
export const readAgeMs = (text: string): number | undefined => {
  const [, count = "", unit = ""] = /^(\d{1,6})([dhm])$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
};

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

const readVariables = (text: string): string[] => {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  if (names.every((name) => variableName.test(name))) return names;
  throw invalidValue("--pass-env", text, "names of environment variables, separated by commas");
};

const readSeconds = (text: string): number => {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  throw invalidValue("--policy-timeout", text, "a number of seconds");
};

export const modelForms = "offline, anthropic:MODEL, openai:MODEL or openai-compatible:URL#MODEL";

export const approvals = ["ask", "once", "reject"];

/** The coding agents of other vendors, by the ids of `@harnesskit/agent-hooks`, which help texts must not load. */
export const agentIds = ["claude-code", "codex", "gemini-cli", "cursor", "copilot-cli", "opencode"];

export const maxSessionIdLength = 200;
