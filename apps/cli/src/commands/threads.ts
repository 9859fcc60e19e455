import { Option } from "commander";
import { type Command, type CommandContext, cwdOption, loads, refuseWords, wholeNumber } from "./options.ts";

const exampleId = "ses_0123456789abcdef0123456789abcdef";

const attachOption = (): Option =>
  new Option(
    "--attach <endpoint>",
    "ask the server on this socket, unix:PATH, which may be writing the thread",
  ).conflicts("cwd");

const loadOrganising = () => import("../threads/organise.ts");

/** The commands of `harness threads` that change what threads are called and where they are, and find them. */
const addOrganising = (threads: Command, context: CommandContext): void => {
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
    .example("harness threads search flaky test")
    .action(loads(context, async () => (await loadOrganising()).searchCommand));

  ofThread("rename")
    .description("rename a thread")
    .argument("<title>", "one line")
    .example(`harness threads rename ${exampleId} "Release 2.1"`)
    .action(loads(context, async () => (await loadOrganising()).renameCommand));

  ofThread("archive")
    .description("hide a thread from lists; it accepts no prompts until it is restored")
    .example(`harness threads archive ${exampleId}`)
    .action(async (id: string, options) => (await loadOrganising()).archiveCommand(id, true, options));

  ofThread("unarchive")
    .description("restore a thread from the archive")
    .example(`harness threads unarchive ${exampleId}`)
    .action(async (id: string, options) => (await loadOrganising()).archiveCommand(id, false, options));

  ofThread("fork")
    .description("start a thread with the history of another one")
    .option("--at <seq>", "up to and including this event (default: the last one)", wholeNumber("--at"))
    .option("--json", "one JSON document")
    .example(`harness threads fork ${exampleId} --at 120`)
    .action(loads(context, async () => (await loadOrganising()).forkCommand));
};

/** `harness threads` and its commands. */
export const addThreads = (program: Command, context: CommandContext): void => {
  const threads = program
    .command("threads")
    .description("read, search, organise and remove the threads that are kept in .harness")
    .example("harness threads list");
  const ofThread = (name: string) =>
    threads.command(name).argument("<id>", "the thread's id").addOption(cwdOption());

  threads
    .command("list", { isDefault: true })
    .description("list the threads, the most recently used first (the default command)")
    .addOption(cwdOption())
    .option("--archived", "list archived threads instead")
    .option("--json", "one JSON document")
    .allowExcessArguments()
    .hook("preAction", refuseWords)
    .example("harness threads list --json")
    .action(loads(context, async () => (await import("../threads/threads.ts")).listThreads));

  ofThread("show")
    .description("what happened in a thread")
    .example(`harness threads show ${exampleId}`)
    .action(loads(context, async () => (await import("../threads/threads.ts")).showThread));

  addOrganising(threads, context);

  ofThread("export")
    .description("export the events of a thread as JSON lines")
    .example(`harness threads export ${exampleId} > thread.jsonl`)
    .action(loads(context, async () => (await import("../threads/threads.ts")).exportThread));

  threads
    .command("cost")
    .description("show the tokens of finished turns and what they cost")
    .addOption(cwdOption())
    .addOption(
      new Option("--by <what>", "one line for each")
        .choices(["thread", "turn", "agent", "model", "day"])
        .default("thread"),
    )
    .option("--since <age>", "only turns that began within this time: 30d, 12h or 90m (default: all)")
    .option("--json", "one JSON document")
    .example(`harness threads cost --by day --since 30d

The file in $HARNESS_PRICES has the prices, in US dollars for a million tokens; without it, list prices hold:
  {"MODEL": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}`)
    .action(loads(context, async () => (await import("../threads/cost.ts")).showCost));

  ofThread("delete")
    .description("remove a thread with its log, its artifacts and its grants")
    .option("--yes", "without a question; needed where there is no terminal")
    .example(`harness threads delete ${exampleId}`)
    .action(loads(context, async () => (await import("../threads/threads.ts")).deleteThread));

  threads
    .command("prune")
    .description("remove threads that have not been used for a while; threads in use are left alone")
    .addOption(cwdOption())
    .requiredOption("--older-than <age>", "last used longer ago than this: 30d, 12h or 90m")
    .option("--keep <n>", "always keep the n most recently used", wholeNumber("--keep"))
    .option("--dry-run", "show what would be removed, and remove nothing")
    .option("--json", "one JSON document")
    .example("harness threads prune --older-than 30d --keep 20 --dry-run")
    .action(loads(context, async () => (await import("../threads/prune.ts")).pruneThreads));
};

/** `harness grants` with `list` and `revoke`. */
export const addGrants = (program: Command, context: CommandContext): void => {
  const grants = program
    .command("grants")
    .description("list and revoke the calls that you always allow")
    .example("harness grants list");

  grants
    .command("list", { isDefault: true })
    .description("what is allowed without asking, the last one first")
    .addOption(cwdOption())
    .option("--json", "one JSON document")
    .example("harness grants list --json")
    .action(loads(context, async () => (await import("../threads/threads.ts")).listGrants));

  grants
    .command("revoke")
    .description("revoke a grant: from then on you are asked again")
    .argument("<id>", "the grant's id")
    .addOption(cwdOption())
    .example("harness grants revoke grant_0123456789abcdef0123456789abcdef")
    .action(loads(context, async () => (await import("../threads/threads.ts")).revokeGrant));
};
