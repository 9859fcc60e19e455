import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApprovalStore } from "@harnesskit/approvals";
import type { ServedHub } from "@harnesskit/hub/node";
import { createNotifier, type NotifyConfig, openSentLog, parseNotifyConfig } from "@harnesskit/notify";
import { HarnessError } from "@harnesskit/wire";
import { usageError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";

/** Reads the file of `--notify`. Rejects with a `CliError` `usage`. */
export const readNotifyFile = async (file: string): Promise<NotifyConfig> => {
  try {
    return parseNotifyConfig(await readFile(fromHere(file), "utf8"), io().env);
  } catch (error) {
    const why = HarnessError.isInstance(error) ? error.message : (error as NodeJS.ErrnoException).code;
    throw usageError(`--notify ${file}: ${String(why)}`, undefined, error);
  }
};

export interface NoticesOptions {
  readonly config: NotifyConfig;
  readonly approvals: ApprovalStore;
  readonly server: ServedHub;
  /** The state's directory: which notices were sent is kept in it. */
  readonly directory: string;
  readonly onError: (error: unknown) => void;
}

/** Tells people what waits, with links to the hub. */
export const startNotices = async ({ config, approvals, server, directory, onError }: NoticesOptions) => {
  const { answerLinks } = config;
  const notifier = createNotifier({
    config,
    source: approvals,
    sent: await openSentLog(join(directory, "notices.json")),
    links: {
      page: (id) => server.pageLink(id),
      answer:
        answerLinks === undefined
          ? undefined
          : (record, target) =>
              server.answerLink(record, { for: target, forMs: answerLinks.forMinutes * 60_000 }),
    },
    onError,
  });
  notifier.start();
  return notifier;
};
