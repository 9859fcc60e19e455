import { Option } from "commander";
import type { Command } from "./help-command.ts";
import { approvals, type CommandContext, loads, retryOption, wholeNumber } from "./options.ts";

/** `harness attach`. */
export const addAttach = (program: Command, context: CommandContext): void => {
  program
    .command("attach")
    .description("follow a thread of a running server, and answer its pending approvals")
    .argument("<endpoint>", "where it listens: unix:PATH")
    .option("--thread <id>", "the thread (default: the one used last)")
    .addOption(
      new Option(
        "--approve <how>",
        "how approvals are answered; ask needs a terminal, and only watches without (default: ask)",
      ).choices(approvals),
    )
    .option("--after <seq>", "show only events after this number", wholeNumber("--after"))
    .option("--follow", "stay when the turn has ended, until Ctrl-C")
    .addOption(retryOption("the server"))
    .option("--json", "one JSON line per event, the last of type result")
    .example(
      'harness attach "unix:$HOME/.local/state/harnesskit/run/serve.sock" --follow\n\nCtrl-C leaves; the turn continues.',
    )
    .action(loads(context, async () => (await import("../attach/attach.ts")).attach));
};
