import type { Command } from "./options.ts";

const exampleId = "ses_0123456789abcdef0123456789abcdef";

const loadOrganising = () => import("../threads/organise.ts");

/** The commands of `harness threads` that change what threads are called and where they are, and find them. */
const addOrganising = (threads: Command): void => {
  const placed = (name: string, ...argument: [name: string, description: string]) =>
    threads
      .command(name)
      .argument(...argument)
      .cwd()
      .option(
        "--attach <endpoint>",
        "ask the server on this socket, unix:PATH, which may be writing the thread",
      )
      .notWith("cwd");
  const ofThread = (name: string) => placed(name, "<id>", "the thread's id");

  placed("search", "<words...>", "up to 16 words")
    .description("search titles and messages for words, ignoring case")
    .option("--thread <id>", "only in this thread")
    .option("--archived", "also search archived threads")
    .number("--limit <n>", "at most this many hits (default: 20)")
    .json()
    .example("harness threads search flaky test")
    .runs(async () => (await loadOrganising()).searchCommand);

  ofThread("rename")
    .description("rename a thread")
    .argument("<title>", "one line")
    .example(`harness threads rename ${exampleId} "Release 2.1"`)
    .runs(async () => (await loadOrganising()).renameCommand);

  ofThread("archive")
    .description("hide a thread from lists; it accepts no prompts until it is restored")
    .example(`harness threads archive ${exampleId}`)
    .runs(async () => (await loadOrganising()).archiveCommand);

  ofThread("unarchive")
    .description("restore a thread from the archive")
    .example(`harness threads unarchive ${exampleId}`)
    .runs(async () => (await loadOrganising()).unarchiveCommand);

  ofThread("fork")
    .description("start a thread with the history of another one")
    .number("--at <seq>", "up to and including this event (default: the last one)")
    .json()
    .example(`harness threads fork ${exampleId} --at 120`)
    .runs(async () => (await loadOrganising()).forkCommand);
};

/** `harness threads` and its commands. */
export const addThreads = (program: Command): void => {
  const threads = program
    .command("threads")
    .description("read, search, organise and remove the threads that are kept in .harness")
    .example("harness threads list");
  const ofThread = (name: string) => threads.command(name).argument("<id>", "the thread's id").cwd();

  threads
    .defaultCommand("list")
    .description("list the threads, the most recently used first (the default command)")
    .cwd()
    .option("--archived", "list archived threads instead")
    .json()
    .example("harness threads list --json")
    .runs(async () => (await import("../threads/threads.ts")).listThreads);

  ofThread("show")
    .description("what happened in a thread")
    .example(`harness threads show ${exampleId}`)
    .runs(async () => (await import("../threads/threads.ts")).showThread);

  addOrganising(threads);

  ofThread("export")
    .description("export the events of a thread as JSON lines")
    .example(`harness threads export ${exampleId} > thread.jsonl`)
    .runs(async () => (await import("../threads/threads.ts")).exportThread);

  threads
    .command("cost")
    .description("show the tokens of finished turns and what they cost")
    .cwd()
    .option("--by <what>", "one line for each", "thread")
    .oneOf(["thread", "turn", "agent", "model", "day"])
    .age("--since <age>", "only turns that began within this time (default: all)")
    .json()
    .example(`harness threads cost --by day --since 30d

The file in $HARNESS_PRICES has the prices, in US dollars for a million tokens; without it, list prices hold:
  {"MODEL": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}}`)
    .runs(async () => (await import("../threads/cost.ts")).showCost);

  ofThread("delete")
    .description("remove a thread with its log, its artifacts and its grants")
    .option("--yes", "without a question; needed where there is no terminal")
    .example(`harness threads delete ${exampleId}`)
    .runs(async () => (await import("../threads/threads.ts")).deleteThread);

  threads
    .command("prune")
    .description("remove threads that have not been used for a while; threads in use are left alone")
    .cwd()
    .age("--older-than <age>", "last used longer ago than this")
    .required()
    .number("--keep <n>", "always keep the n most recently used")
    .option("--dry-run", "show what would be removed, and remove nothing")
    .json()
    .example("harness threads prune --older-than 30d --keep 20 --dry-run")
    .runs(async () => (await import("../threads/prune.ts")).pruneThreads);
};

/** `harness grants` with `list` and `revoke`. */
export const addGrants = (program: Command): void => {
  const grants = program
    .command("grants")
    .description("list and revoke the calls that you always allow")
    .example("harness grants list");

  grants
    .defaultCommand("list")
    .description("what is allowed without asking, the last one first")
    .cwd()
    .json()
    .example("harness grants list --json")
    .runs(async () => (await import("../threads/threads.ts")).listGrants);

  grants
    .command("revoke")
    .description("revoke a grant: from then on you are asked again")
    .argument("<id>", "the grant's id")
    .cwd()
    .example("harness grants revoke grant_0123456789abcdef0123456789abcdef")
    .runs(async () => (await import("../threads/threads.ts")).revokeGrant);
};
