import { displayText } from "@harnesskit/wire";
import { Command, Option } from "commander";
import type { ExitCode } from "./exit-code.ts";

export interface ProgramOptions {
  /** The file of this program. */
  readonly binPath: string;
  readonly version: string;
  /** Told the exit code of the command that ran. */
  readonly onExit: (code: ExitCode) => void;
}

const cwdOption = () => new Option("--cwd <dir>", "the directory to work in").default(process.cwd(), "here");
const jsonOption = (what: string) => new Option("--json", what);
const modelForms = "offline, anthropic:MODEL, openai:MODEL or openai-compatible:URL#MODEL";

/** The command line. A command's code is loaded when it is called. */
export const createProgram = ({ binPath, version, onExit }: ProgramOptions): Command => {
  const program = new Command("harness")
    .description("An agent behind the thread protocol, and a client for it")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("--help shows how.")
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(displayText(text, { multiline: true, maxLength: 2_000 })),
    })
    .addHelpText(
      "after",
      '\nExample:\n  harness run "describe this repository"\n\n' +
        "Exit codes: 0 done, 1 failed or cancelled, 2 wrong usage, 3 refused, 4 unavailable",
    );

  program
    .command("serve")
    .description("serve the thread protocol on standard input and output")
    .addOption(cwdOption())
    .addOption(
      new Option("--model <spec>", `the model where a turn names none: ${modelForms}`).default("offline"),
    )
    .addHelpText(
      "after",
      `\nExample:\n  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | harness serve`,
    )
    .action(async (options) => {
      const { createStdioChannel } = await import("@harnesskit/transport-stdio");
      // From here on nothing but the protocol reaches standard output, whatever the rest prints when it is loaded.
      const channel = createStdioChannel();
      const { serve } = await import("./commands/serve.ts");
      onExit(await serve(options, channel));
    });

  program
    .command("run")
    .description("give the agent a task and follow what it does")
    .argument("<prompt>", "what to do")
    .addOption(cwdOption())
    .addOption(new Option("--model <spec>", `${modelForms} (default: offline)`))
    .addOption(
      new Option("--agent <name>", "code, which may change things, or ask, which only reads (default: code)"),
    )
    .addOption(
      new Option(
        "--approve <how>",
        "how approvals are answered; ask needs a terminal (default: ask)",
      ).choices(["ask", "once", "reject"]),
    )
    .addOption(new Option("--thread <id>", "go on with this thread"))
    .addOption(jsonOption("one JSON line per event, the last of type result"))
    .addHelpText("after", '\nExample:\n  harness run --approve once "run the tests"')
    .action(async (prompt: string, options) => {
      const { run } = await import("./commands/run.ts");
      onExit(await run(prompt, options, { binPath, version }));
    });

  addThreadCommands(program);

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

  return program;
};

const addThreadCommands = (program: Command): void => {
  const threads = program
    .command("threads")
    .description("read the threads that are kept in .harness")
    .addHelpText("after", "\nExample:\n  harness threads list");

  threads
    .command("list")
    .description("the threads, the one used last first")
    .addOption(cwdOption())
    .addOption(jsonOption("one JSON document"))
    .addHelpText("after", "\nExample:\n  harness threads list --json")
    .action(async (options) => {
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
};
