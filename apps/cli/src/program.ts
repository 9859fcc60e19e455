import { displayText } from "@harnesskit/wire";
import { addAgents } from "./commands/agents.ts";
import { addAhp } from "./commands/ahp.ts";
import { addChat } from "./commands/chat.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConformance } from "./commands/conformance.ts";
import { addAudit, addCore } from "./commands/core.ts";
import { addEngine } from "./commands/engine.ts";
import { addGuard } from "./commands/guard.ts";
import { addHub, addInbox, addTimeline } from "./commands/hub.ts";
import { Command, helpWidth } from "./commands/options.ts";
import { addAttach, addRun } from "./commands/run.ts";
import { addServe } from "./commands/serve.ts";
import { addShell } from "./commands/shell.ts";
import { addStore } from "./commands/store.ts";
import { addGrants, addThreads } from "./commands/threads.ts";
import { io } from "./io.ts";
import { createTerminal } from "./terminal/terminal.ts";
import { wrapText } from "./terminal/text.ts";

const withQuotesHint = (error: string): string =>
  /^error: too many arguments for '(?:run|shell)'/.test(error)
    ? `${error}Put quotes around several words, as in "describe this repository".\n`
    : error;

/** What commander says of a wrong command line, as the other errors of this program begin. */
const asError = (text: string): string => withQuotesHint(text).replace(/^error: /, "harness: ");

const addDoctor = (program: Command): void => {
  program
    .command("doctor")
    .description("find what could keep the harness from working here, and how to fix it")
    .cwd()
    .json()
    .example("harness doctor --cwd ~/project")
    .runs(async () => (await import("./doctor/doctor.ts")).doctor);
};

/** By the names of the commands, in the order in which help lists them. `completion` needs all of them. */
const parts: Readonly<Record<string, (program: Command) => void>> = {
  run: addRun,
  chat: addChat,
  threads: addThreads,
  grants: addGrants,
  serve: addServe,
  attach: addAttach,
  engine: addEngine,
  shell: addShell,
  store: addStore,
  hub: addHub,
  inbox: addInbox,
  timeline: addTimeline,
  guard: addGuard,
  core: addCore,
  agents: addAgents,
  ahp: addAhp,
  audit: addAudit,
  conformance: addConformance,
  doctor: addDoctor,
};

/** The command line, or the part of it that the command `only` needs. A command's code is loaded when it is called. */
export const createProgram = (version: string, only?: string): Command => {
  const program = new Command("harness")
    .description("Runs an AI agent on the files of a directory, and asks before it changes anything")
    .version(version, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("--help shows how.")
    .exitOverride()
    // The terms of options take half of a narrow terminal; what they mean stands beside them there, too.
    .configureHelp({ minWidthToWrap: 24 })
    .configureOutput({
      writeErr: (text) => createTerminal(io().stderr).write(text),
      writeOut: (text) => createTerminal().write(text),
      getErrHelpWidth: () => helpWidth(io().stderr),
      getOutHelpWidth: () => helpWidth(io().stdout),
      outputError: (text, write) => {
        const shown = displayText(asError(text), { multiline: true, maxLength: 2_000 });
        write(wrapText(shown, createTerminal(io().stderr).columns));
      },
    })
    .example(`harness run "describe this repository"

Exit codes: 0 done, 1 failed or cancelled, 2 wrong usage, 3 refused, 4 unavailable, 130 interrupted`);
  const one = only !== undefined && Object.hasOwn(parts, only) ? parts[only] : undefined;
  for (const add of one === undefined ? Object.values(parts) : [one]) add(program);
  if (one === undefined) addCompletion(program);
  return program;
};
