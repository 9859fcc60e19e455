import type { Channel } from "@harnesskit/wire";
import { Option } from "commander";
import {
  addPolicyOptions,
  addToolOptions,
  type Command,
  type CommandContext,
  cwdOption,
  modelForms,
  severalTimes,
  whenBusy,
} from "./options.ts";
import { storeOption } from "./store.ts";

/** `harness serve`. */
export const addServe = (program: Command, context: CommandContext): void => {
  const { version, onExit } = context;
  addToolOptions(addPolicyOptions(program.command("serve")))
    .description("serve the thread protocol on standard input and output")
    .addOption(cwdOption())
    .option("--model <spec>", `the model of a turn that names none: ${modelForms}`, "offline")
    .option(
      "--listen <endpoint>",
      "also serve on a Unix socket, unix:PATH; can be given several times",
      severalTimes,
    )
    .option(
      "--allow-model <spec>",
      "a model that clients of --listen may choose besides the one of --model; can be given several times",
      severalTimes,
    )
    .addOption(
      new Option(
        "--when-busy <how>",
        "what happens to a prompt while a turn runs, if it does not say so itself (default: reject)",
      ).choices(whenBusy),
    )
    .addOption(
      new Option(
        "--interrupted-turns <how>",
        "what becomes of a turn whose server ended in the middle of it: report ends it, retry goes on from its last step (default: report)",
      ).choices(["report", "retry"]),
    )
    .addOption(storeOption("where threads are kept (default: files in .harness of --cwd)"))
    .option(
      "--audit <file>",
      "where tool calls are recorded; the server does not start without it (default: a file in your state directory)",
    )
    .example(`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}' | harness serve
  harness serve --listen "unix:$HOME/.local/state/harnesskit/run/serve.sock"
  HARNESS_STORE=postgres://me:secret@db/agents harness serve --store postgres:

Standard input and output carry one JSON message per line. A socket carries four bytes of
length, big-endian, before each message; clients: harness attach, harness run --attach.
The end of standard input ends the server, also with --listen, unless it was started as a
service: with --listen, and a terminal, /dev/null or nothing as standard input
(systemd, nohup, a shell's &). Then SIGTERM or Ctrl-C ends it.
The client on standard input chooses any model for a turn; clients of a socket choose
among those of --model and --allow-model.

A policy judges each prompt and tool call before it happens; if it cannot answer, nothing
happens. It is part of this server, or is the harness of --ahp.`)
    .action(async (options) => {
      const channel = await openChannel(options.listen !== undefined);
      const { serve } = await import("../serve/serve.ts");
      onExit(await serve({ ...options, version }, channel));
    });
};

const openChannel = async (hasSockets: boolean): Promise<Channel | undefined> => {
  const { ignoreLostReader, isService, openStdio } = await import("../serve/open-stdio.ts");
  if (!hasSockets || !isService()) return openStdio({ outlives: hasSockets });
  ignoreLostReader();
  return undefined;
};
