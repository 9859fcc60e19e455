import { type Command, Option } from "commander";
import { type CommandContext, cwdOption, loads, wholeNumber } from "./options.ts";

const exampleId = "ses_0123456789abcdef0123456789abcdef";

const attachOption = (): Option =>
  new Option(
    "--attach <endpoint>",
    "ask the server on this socket, unix:PATH, which may be writing the thread",
  ).conflicts("cwd");

const loadOrganising = () => import("../threads/organise.ts");

/** The commands of `harness threads` that change what threads are called and where they are, and find them. */
export const addOrganising = (threads: Command, context: CommandContext): void => {
  const placed = (name: string, ...argument: [name: string, description: string]) =>
    threads
      .command(name)
      .argument(...argument)
      .addOption(cwdOption())
      .addOption(attachOption());
  const ofThread = (name: string) => placed(name, "<id>", "the thread's id");

  placed("search", "<words...>", "up to 16 words")
    .description("search titles and messages for words, ignoring case")
    .option("--thread <id>", "only in this thread")
    .option("--archived", "also search archived threads")
    .option("--limit <n>", "at most this many hits (default: 20)", wholeNumber("--limit"))
    .option("--json", "one JSON document")
    .addHelpText("after", "\nExample:\n  harness threads search flaky test")
    .action(loads(context, async () => (await loadOrganising()).searchCommand));

  ofThread("rename")
    .description("rename a thread")
    .argument("<title>", "one line")
    .addHelpText("after", `\nExample:\n  harness threads rename ${exampleId} "Release 2.1"`)
    .action(loads(context, async () => (await loadOrganising()).renameCommand));

  ofThread("archive")
    .description("hide a thread from lists; it accepts no prompts until it is restored")
    .addHelpText("after", `\nExample:\n  harness threads archive ${exampleId}`)
    .action(async (id: string, options) => (await loadOrganising()).archiveCommand(id, true, options));

  ofThread("unarchive")
    .description("restore a thread from the archive")
    .addHelpText("after", `\nExample:\n  harness threads unarchive ${exampleId}`)
    .action(async (id: string, options) => (await loadOrganising()).archiveCommand(id, false, options));

  ofThread("fork")
    .description("start a thread with the history of another one")
    .option("--at <seq>", "up to and including this event (default: the last one)", wholeNumber("--at"))
    .option("--title <title>", "the title (default: that of the original thread)")
    .option("--json", "one JSON document")
    .addHelpText("after", `\nExample:\n  harness threads fork ${exampleId} --at 120 --title "Another way"`)
    .action(loads(context, async () => (await loadOrganising()).forkCommand));
};
