import { approvals, type Command } from "./options.ts";

/** `harness shell`. */
export const addShell = (program: Command): void => {
  program
    .command("shell")
    .description("a shell of an OpenHarness engine: sends messages, shows the answers, asks for approvals")
    .argument("[intent]", "what you want; without it, the lines of standard input one after the other")
    .option(
      "--engine <url>",
      "the engine: http(s)://HOST:PORT/openharness (default: the one of harness engine)",
    )
    .option("--token-file <file>", "the engine's token (default: $HARNESS_ENGINE_TOKEN, if it is set)")
    .session("continue this conversation (default: the one of the last call)")
    .notWith("new")
    .option("--new", "start a new conversation")
    .option(
      "--approve <how>",
      "how approvals are answered; ask needs a terminal (default: ask; without a terminal they stay pending)",
    )
    .oneOf(approvals)
    .several(
      "--attach <reference>",
      "send this with the first message: a path in the engine's workspace, or an address that the engine knows",
    )
    .number("--timeout <seconds>", "how long to wait for an answer", 120)
    .example(`harness shell --engine http://127.0.0.1:8787/openharness --token-file token "hello"

An attachment is a reference: the engine reads it, by its own rules, and reports what it did not give
to the model. Nothing of your machine is sent with it, and no state of your system.

A line is a message. These are commands: /help, /pending, /approve ID, /reject ID REASON, /quit.
The conversation and its pending approvals are kept for the next call, in a file that only you can read.
Denied capabilities and skipped parts are reported on standard error.

Exit codes: 0 done, 1 the engine failed, was cancelled, or sent something that could not be shown,
2 wrong usage, 3 refused, or an approval is pending or could not be asked, 4 the engine cannot be reached`)
    .runs(async () => (await import("../shell/shell.ts")).shell);
};
