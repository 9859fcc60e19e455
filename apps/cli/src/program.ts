import { type Channel, displayText } from "@harnesskit/wire";
import { Command, Option } from "commander";
import { addChatCommand } from "./chat/add-chat-command.ts";
import { addCompletionCommand } from "./completion/add-completion-command.ts";
import { addEngineCommand } from "./engine/add-engine-command.ts";
import type { ExitCode } from "./exit-code.ts";
import { addAhpCommands } from "./program-ahp.ts";
import { addPolicyOptions, cwdOption, jsonOption, severalTimes, wholeNumber } from "./program-options.ts";
import { addRuntimeCommands } from "./program-runtime.ts";
import { addShellCommand } from "./shell/add-shell-command.ts";
import { createTerminal } from "./terminal/terminal.ts";
import { wrapText } from "./terminal/wrap-text.ts";

export interface ProgramOptions {
  /** The file of this program. */
  readonly binPath: string;
  readonly version: string;
  /** Told the exit code of the command that ran. */
  readonly onExit: (code: ExitCode) => void;
}

const retryOption = (server: string) =>
  new Option(
    "--retry-for <seconds>",
    `how long ${server} is tried again when it is lost; if given, one that is not there yet is waited for, too (default: 60; 0: not at all)`,
  ).argParser(wholeNumber("--retry-for"));
const modelForms = "offline, anthropic:MODEL, openai:MODEL or openai-compatible:URL#MODEL";

/** A prompt of several words without quotes is too many arguments. */
const withQuotesHint = (error: string): string =>
  /^error: too many arguments for '(?:run|shell)'/.test(error)
    ? `${error}Put quotes around several words, as in "describe this repository".\n`
    : error;

/** The command line. A command's code is loaded when it is called. */
export const createProgram = ({ binPath, version, onExit }: ProgramOptions): Command => {
  const program = new Command("harness")
    .description("Runs an AI agent on the files of a directory, and asks before it changes anything")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("--help shows how.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        const terminal = createTerminal();
        terminal.write(wrapText(text, terminal.columns));
      },
      outputError: (text, write) =>
        write(displayText(withQuotesHint(text), { multiline: true, maxLength: 2_000 })),
    })
    .addHelpText(
      "after",
      '\nExample:\n  harness run "describe this repository"\n\n' +
        "Exit codes: 0 done, 1 failed or cancelled, 2 wrong usage, 3 refused, 4 unavailable, 130 interrupted",
    );

  addPolicyOptions(program.command("serve"))
    .description("serve the thread protocol on standard input and output")
    .addOption(cwdOption())
    .addOption(
      new Option("--model <spec>", `the model where a turn names none: ${modelForms}`).default("offline"),
    )
    .addOption(
      new Option(
        "--listen <endpoint>",
        "serve on a Unix socket as well, unix:PATH; can be given several times",
      ).argParser(severalTimes),
    )
    .addOption(
      new Option(
        "--allow-model <spec>",
        "a model that clients of --listen may choose beside the one of --model; can be given several times",
      ).argParser(severalTimes),
    )
    .addOption(
      new Option(
        "--audit <file>",
        "where tool calls are recorded; the server does not start without it (default: a file of the user's)",
      ),
    )
    .addHelpText(
      "after",
      `\nExample:\n  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | harness serve
  harness serve --listen unix:.harness/serve.sock

Standard input and output carry one JSON message a line. A socket carries four bytes of
length, big-endian, before each message; clients: harness attach, harness run --attach.
The end of standard input ends the server, with --listen too, except where it was started
as a service: with --listen, and a terminal, /dev/null or nothing as standard input
(systemd, nohup, a shell's &). Then SIGTERM or Ctrl-C ends it.
The client on standard input chooses any model for a turn; clients of a socket choose
among those of --model and --allow-model.

A policy judges each prompt and tool call before it happens; where it cannot answer, nothing
happens. It runs as a child of this server, or is the harness of --ahp.`,
    )
    .action(async (options) => {
      const channel = await openServeStdio(options.listen !== undefined);
      const { startPolicy } = await import("./supervision/start-policy.ts");
      const policy = startPolicy({ ...options, binPath });
      policy.catch(() => {});
      const { serve } = await import("./commands/serve.ts");
      onExit(await serve({ ...options, version }, policy, channel));
    });

  addPolicyOptions(program.command("run"))
    .description("give the agent a task and follow what it does")
    .argument(
      "[prompt]",
      "what to do; - or no prompt: read from standard input; with --thread and no prompt: answer what waits there",
    )
    .addOption(cwdOption())
    .addOption(new Option("--model <spec>", `${modelForms} (default: offline)`))
    .addOption(
      new Option("--agent <name>", "code, which may change things, or ask, which only reads (default: code)"),
    )
    .addOption(
      new Option(
        "--approve <how>",
        "how approvals are answered; ask needs a terminal, and approves nothing without (default: ask)",
      ).choices(["ask", "once", "reject"]),
    )
    .addOption(new Option("--thread <id>", "go on with this thread; what waits in it comes first"))
    .addOption(
      new Option(
        "--file <path>",
        "give the model this file of the workspace: an image, a PDF or text; can be given several times",
      ).argParser(severalTimes),
    )
    .addOption(
      new Option(
        "--attach <endpoint>",
        "use the server on this socket, unix:PATH, instead of starting one",
      ).conflicts([
        "cwd",
        "policy",
        "ahp",
        "ahpTokenFile",
        "ahpApiKeyFile",
        "ahpCredentialsInQuery",
        "policyTimeout",
      ]),
    )
    .addOption(retryOption("the server of --attach"))
    .addOption(jsonOption("one JSON line per event, the last of type result"))
    .addHelpText(
      "after",
      `\nExample:
  harness run --approve once "run the tests"
  echo "run the tests" | harness run --approve once

Where standard input is not a terminal, no user can be asked: what needs an approval does not
run, and the exit code is 3. --approve once approves each call, for example in a script.`,
    )
    .action(async (prompt: string | undefined, options) => {
      const { run } = await import("./commands/run.ts");
      onExit(await run(prompt, options, { binPath, version }));
    });

  program
    .command("attach")
    .description("follow a thread of a server that runs, and answer what waits there")
    .argument("<endpoint>", "where it listens: unix:PATH")
    .addOption(new Option("--thread <id>", "the thread (default: the one used last)"))
    .addOption(
      new Option(
        "--approve <how>",
        "how approvals are answered; ask needs a terminal, and only watches without (default: ask)",
      ).choices(["ask", "once", "reject"]),
    )
    .addOption(
      new Option("--after <seq>", "show only events after this number").argParser(wholeNumber("--after")),
    )
    .addOption(new Option("--follow", "stay when the turn has ended, until Ctrl-C"))
    .addOption(retryOption("the server"))
    .addOption(jsonOption("one JSON line per event, the last of type result"))
    .addHelpText(
      "after",
      "\nExample:\n  harness attach unix:.harness/serve.sock --follow\n\n" +
        "Ctrl-C leaves; the turn goes on.",
    )
    .action(async (endpoint: string, options) => {
      const { attach } = await import("./commands/attach.ts");
      onExit(await attach(endpoint, options, { version }));
    });

  addChatCommand(program, { onExit, modelForms });
  addEngineCommand(program, { onExit, modelForms });
  addShellCommand(program, { version, onExit });
  addThreadCommands(program, onExit);
  addGrantCommands(program);
  addRuntimeCommands(program, { version, onExit });
  addAhpCommands(program, { version, onExit });

  program
    .command("doctor")
    .description("find what could keep the harness from working here, and say what to do")
    .addOption(cwdOption())
    .addOption(jsonOption("one JSON document"))
    .addHelpText("after", "\nExample:\n  harness doctor --cwd ~/project")
    .action(async (options) => {
      const { doctor } = await import("./commands/doctor.ts");
      onExit(await doctor(options));
    });
  addCompletionCommand(program);

  return program;
};

/** The channel of `harness serve`; undefined for a server with sockets that was started as a service. */
const openServeStdio = async (hasSockets: boolean): Promise<Channel | undefined> => {
  const { ignoreLostReader, isService, openStdio } = await import("./serve/open-stdio.ts");
  if (!hasSockets || !isService()) return openStdio({ outlives: hasSockets });
  ignoreLostReader();
  return undefined;
};

const addThreadCommands = (program: Command, onExit: ProgramOptions["onExit"]): void => {
  const threads = program
    .command("threads")
    .description("read and remove the threads that are kept in .harness")
    .addHelpText("after", "\nExample:\n  harness threads list");

  threads
    .command("list", { isDefault: true })
    .description("the threads, the one used last first; also without the word list")
    .addOption(cwdOption())
    .addOption(jsonOption("one JSON document"))
    .allowExcessArguments()
    .addHelpText("after", "\nExample:\n  harness threads list --json")
    .action(async (options, command: Command) => {
      // A word that is none of the commands comes here, because this is what runs without one.
      const [word] = command.args;
      if (word !== undefined) command.error(`error: unknown command '${word}'`);
      const { listThreads } = await import("./commands/threads-list.ts");
      await listThreads(options);
    });

  threads
    .command("show")
    .description("what happened in a thread")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .addHelpText("after", "\nExample:\n  harness threads show ses_0123456789abcdef0123456789abcdef")
    .action(async (id: string, options) => {
      const { showThread } = await import("./commands/threads-show.ts");
      await showThread(id, options);
    });

  threads
    .command("export")
    .description("the events of a thread as JSON lines")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .addOption(jsonOption("one JSON document with the thread and its events"))
    .addHelpText(
      "after",
      "\nExample:\n  harness threads export ses_0123456789abcdef0123456789abcdef > thread.jsonl",
    )
    .action(async (id: string, options) => {
      const { exportThread } = await import("./commands/threads-export.ts");
      await exportThread(id, options);
    });

  threads
    .command("delete")
    .description("remove a thread with its log, its artifacts and its grants")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .addHelpText("after", "\nExample:\n  harness threads delete ses_0123456789abcdef0123456789abcdef")
    .action(async (id: string, options) => {
      const { deleteThread } = await import("./commands/threads-delete.ts");
      await deleteThread(id, options);
    });

  threads
    .command("prune")
    .description("remove threads that were not used for long; those in use are left alone")
    .addOption(cwdOption())
    .addOption(
      new Option(
        "--older-than <age>",
        "last used longer ago than this: 30d, 12h or 90m",
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option("--keep <n>", "never remove the n that were used last").argParser(wholeNumber("--keep")),
    )
    .addOption(new Option("--dry-run", "say what would be removed, and remove nothing"))
    .addOption(jsonOption("one JSON document"))
    .addHelpText("after", "\nExample:\n  harness threads prune --older-than 30d --keep 20 --dry-run")
    .action(async (options) => {
      const { pruneThreads } = await import("./commands/threads-prune.ts");
      onExit(await pruneThreads(options));
    });
};

const addGrantCommands = (program: Command): void => {
  const grants = program
    .command("grants")
    .description("the answers that were given for always")
    .addHelpText("after", "\nExample:\n  harness grants list");

  grants
    .command("list")
    .description("what is allowed without asking, the last one first")
    .addOption(cwdOption())
    .addOption(jsonOption("one JSON document"))
    .addHelpText("after", "\nExample:\n  harness grants list --json")
    .action(async (options) => {
      const { listGrants } = await import("./commands/grants.ts");
      await listGrants(options);
    });

  grants
    .command("revoke")
    .description("take one back: it is asked again from then on")
    .argument("<id>", "the grant's id")
    .addOption(cwdOption())
    .addHelpText("after", "\nExample:\n  harness grants revoke grant_0123456789abcdef0123456789abcdef")
    .action(async (id: string, options) => {
      const { revokeGrant } = await import("./commands/grants.ts");
      await revokeGrant(id, options);
    });
};
