import type { ServeOptions } from "../serve/serve.ts";
import { type Command, modelForms } from "./options.ts";

/** `harness serve`. */
export const addServe = (program: Command): void => {
  program
    .command("serve")
    .policy()
    .tools()
    .description("serve the thread protocol on standard input and output")
    .cwd()
    .option("--model <spec>", `the model of a turn that names none: ${modelForms}`, "offline")
    .several("--listen <endpoint>", "also serve on a Unix socket, unix:PATH")
    .several("--allow-model <spec>", "a model that clients of --listen may choose besides the one of --model")
    .option(
      "--when-busy <how>",
      "what happens to a prompt while a turn runs, if it does not say so itself (default: reject)",
    )
    .oneOf(["reject", "queue", "interrupt"])
    .option(
      "--interrupted-turns <how>",
      "what becomes of a turn whose server ended in the middle of it: report ends it, retry goes on from its last step (default: report)",
    )
    .oneOf(["report", "retry"])
    .store("where threads are kept (default: files in .harness of --cwd)")
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
    .runs(async () => serveStdio, false);
};

const serveStdio = async (options: ServeOptions, { version }: { readonly version: string }) => {
  const { ignoreLostReader, isService, openStdio } = await import("../serve/open-stdio.ts");
  const outlives = options.listen !== undefined;
  const hasClient = !outlives || !isService();
  if (!hasClient) ignoreLostReader();
  const channel = hasClient ? await openStdio({ outlives }) : undefined;
  const { serve } = await import("../serve/serve.ts");
  return serve({ ...options, version }, channel);
};
