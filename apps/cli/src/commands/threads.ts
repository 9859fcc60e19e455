import type { Command } from "commander";
import { type CommandContext, cwdOption, wholeNumber } from "./options.ts";
import { addOrganising } from "./threads-organise.ts";

const exampleId = "ses_0123456789abcdef0123456789abcdef";

/** `harness threads` and its commands. */
export const addThreads = (program: Command, { onExit }: CommandContext): void => {
  const threads = program
    .command("threads")
    .description("read, search, organise and remove the threads that are kept in .harness")
    .addHelpText("after", "\nExample:\n  harness threads list");

  threads
    .command("list", { isDefault: true })
    .description("the threads, the one used last first; also without the word list")
    .addOption(cwdOption())
    .option("--archived", "those in the archive instead")
    .option("--json", "one JSON document")
    .allowExcessArguments()
    .addHelpText("after", "\nExample:\n  harness threads list --json")
    .action(async (options, command: Command) => {
      // As the default command, it also gets words that name no command.
      const [word] = command.args;
      if (word !== undefined) command.error(`error: unknown command '${word}'`);
      const { listThreads } = await import("../threads/threads.ts");
      await listThreads(options);
    });

  threads
    .command("show")
    .description("what happened in a thread")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .addHelpText("after", `\nExample:\n  harness threads show ${exampleId}`)
    .action(async (id: string, options) => {
      const { showThread } = await import("../threads/threads.ts");
      await showThread(id, options);
    });

  addOrganising(threads);

  threads
    .command("export")
    .description("the events of a thread as JSON lines")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .option("--json", "one JSON document with the thread and its events")
    .addHelpText("after", `\nExample:\n  harness threads export ${exampleId} > thread.jsonl`)
    .action(async (id: string, options) => {
      const { exportThread } = await import("../threads/threads.ts");
      await exportThread(id, options);
    });

  threads
    .command("delete")
    .description("remove a thread with its log, its artifacts and its grants")
    .argument("<id>", "the thread's id")
    .addOption(cwdOption())
    .addHelpText("after", `\nExample:\n  harness threads delete ${exampleId}`)
    .action(async (id: string, options) => {
      const { deleteThread } = await import("../threads/threads.ts");
      await deleteThread(id, options);
    });

  threads
    .command("prune")
    .description("remove threads that have not been used for a while; threads in use are left alone")
    .addOption(cwdOption())
    .requiredOption("--older-than <age>", "last used longer ago than this: 30d, 12h or 90m")
    .option("--keep <n>", "never remove the n that were used last", wholeNumber("--keep"))
    .option("--dry-run", "show what would be removed, and remove nothing")
    .option("--json", "one JSON document")
    .addHelpText("after", "\nExample:\n  harness threads prune --older-than 30d --keep 20 --dry-run")
    .action(async (options) => {
      const { pruneThreads } = await import("../threads/prune.ts");
      onExit(await pruneThreads(options));
    });
};

/** `harness grants` with `list` and `revoke`. */
export const addGrants = (program: Command): void => {
  const grants = program
    .command("grants")
    .description("the calls that you have allowed for always")
    .addHelpText("after", "\nExample:\n  harness grants list");

  grants
    .command("list")
    .description("what is allowed without asking, the last one first")
    .addOption(cwdOption())
    .option("--json", "one JSON document")
    .addHelpText("after", "\nExample:\n  harness grants list --json")
    .action(async (options) => {
      const { listGrants } = await import("../threads/threads.ts");
      await listGrants(options);
    });

  grants
    .command("revoke")
    .description("revoke one: from then on you are asked again")
    .argument("<id>", "the grant's id")
    .addOption(cwdOption())
    .addHelpText("after", "\nExample:\n  harness grants revoke grant_0123456789abcdef0123456789abcdef")
    .action(async (id: string, options) => {
      const { revokeGrant } = await import("../threads/threads.ts");
      await revokeGrant(id, options);
    });
};
