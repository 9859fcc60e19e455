import { join, resolve } from "node:path";
import { createModel, ModelError } from "@harnesskit/models";
import { openContinuationStore, openSqliteStore, StoreError } from "@harnesskit/store-sqlite";
import type { LanguageModel } from "ai";
import { CliError, ExitCode } from "../cli-error.ts";
import { checkedModel, languageModelHint } from "../serve/models.ts";
import { oneLine } from "../terminal/text.ts";
import { harnessDirectory } from "../workspace-directory.ts";

/** How long a conversation stays taken when its process died, in milliseconds. */
export const leaseTtlMs = 10_000;
/** Longer than the longest that a command of the workspace tools may run. */
export const toolTimeoutMs = 11 * 60_000;

/** Where conversations are kept: `--store`, or a file of the workspace. */
export const storeFileOf = (options: { readonly store?: string }, workspace: string): string =>
  options.store === undefined ? join(harnessDirectory(workspace), "chat.sqlite") : resolve(options.store);

/** The model of `--model`. Rejects with a usage error, or one that says `unavailable`. */
export const openModel = async (spec: string): Promise<LanguageModel> => {
  try {
    return await createModel(checkedModel(spec), {
      env: process.env,
      languageModelHint: languageModelHint("chat", ""),
    });
  } catch (cause) {
    if (!ModelError.isInstance(cause)) throw cause;
    throw new CliError(cause.code, cause.message, { exitCode: ExitCode.unavailable, cause });
  }
};

/** Opens something in the file of a store. Rejects with an error that says `unavailable`. */
const openFile = async <T>(open: () => Promise<T>): Promise<T> => {
  try {
    return await open();
  } catch (cause) {
    if (!StoreError.isInstance(cause)) throw cause;
    throw new CliError("store_unavailable", `the store cannot be used: ${oneLine(cause.message, 500)}`, {
      exitCode: ExitCode.unavailable,
      hint: "Name another file: --store FILE",
      cause,
    });
  }
};

/** Conversations in a file. */
export const openStore = (file: string) => openFile(() => openSqliteStore({ file }));

/** What shells were asked, in the file of their conversations. */
export const openContinuations = (file: string) => openFile(() => openContinuationStore({ file }));

export type ChatStore = Awaited<ReturnType<typeof openStore>>;
