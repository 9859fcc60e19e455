import type { Command } from "./options.ts";

const ofDatabase = (command: Command): Command => command.store("the database", "").required().json();

/** `harness store` with `migrate`, `check`, `prune`, `stats` and `copy`. */
export const addStore = (program: Command): void => {
  const store = program
    .command("store")
    .description("look after the store of conversations and threads, or copy it to PostgreSQL")
    .example("HARNESS_STORE=postgres://me:secret@db/agents harness store check --store postgres:");

  ofDatabase(store.command("migrate"))
    .description("migrate a database to the version of this program; safe while programs run")
    .example("harness store migrate --store postgres:")
    .runs(async () => (await import("../store/maintain.ts")).migrateStore);

  ofDatabase(store.command("check"))
    .description("whether this program can use a database; exit code 1 if it must be migrated")
    .example("harness store check --store postgres: --json")
    .runs(async () => (await import("../store/maintain.ts")).checkStore);

  ofDatabase(store.command("stats"))
    .description("show how much a database holds and what is pending in it")
    .example("harness store stats --store postgres: --json")
    .runs(async () => (await import("../store/maintain.ts")).showStoreStats);

  store
    .command("prune")
    .cwd()
    .store("the store (default: a file for --cwd in ~/.local/state/harnesskit/chats)")
    .json()
    .description("remove old conversations in which nothing is pending, and what no program needs any more")
    .age("--older-than <age>", "conversations last used longer ago than this (default: none)")
    .age("--threads-older-than <age>", "threads of PostgreSQL last used longer ago than this (default: none)")
    .example("harness store prune --store postgres: --older-than 90d")
    .runs(async () => (await import("../store/maintain.ts")).pruneStore);

  store
    .command("copy")
    .description("copy what is kept in files to PostgreSQL, and compare it")
    .argument(
      "<from>",
      "sqlite:FILE, files:DIR for the threads and conversations in DIR/.harness, or hub:DIR for the state of a hub",
    )
    .argument("<to>", "postgres:, or postgres://USER@HOST/DATABASE")
    .json()
    .example(`HARNESS_STORE=postgres://me:secret@db/agents harness store copy files:. postgres:

End the programs that use FROM first: what is in use ends the copy. A copy that was interrupted is
continued by the same command. TO is never overwritten: content that differs ends the copy with exit code 1.`)
    .runs(async () => (await import("../store/copy.ts")).copyStore);
};
