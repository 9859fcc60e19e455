import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApprovalStore } from "@harnesskit/approvals";
import type { ServedHub } from "@harnesskit/hub/node";
import {
  createNotifier,
  type Notifier,
  type NotifyConfig,
  NotifyError,
  openSentLog,
  type PushKeys,
  parseNotifyConfig,
  webPushConfig,
} from "@harnesskit/notify";
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

interface NoticesOptions {
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

interface PushesOptions {
  readonly keys: PushKeys;
  readonly approvals: ApprovalStore;
  readonly server: Pick<ServedHub, "devices" | "pageLink">;
  /** The state's directory: which pushes were sent is kept in it. */
  readonly directory: string;
  /** Where devices reach the hub: push services turn to it. */
  readonly origin: string;
  readonly onError: (error: unknown) => void;
}

/** Pushes what waits to each device that asked for it. A subscription that its push service does not know any more is removed. */
export const startPushes = async ({ keys, approvals, server, directory, origin, onError }: PushesOptions) => {
  const { devices } = server;
  const sent = await openSentLog(join(directory, "pushes.json"));
  const subject = origin.startsWith("https:") ? origin : "mailto:hub@localhost";
  const open = new Map<string, { readonly endpoint: string; readonly notifier: Notifier }>();

  const close = (id: string): void => {
    void open.get(id)?.notifier.close();
    open.delete(id);
  };

  const sync = (): void => {
    const wanted = devices.subscriptions();
    for (const [id, { endpoint }] of open) if (wanted.get(id)?.endpoint !== endpoint) close(id);
    for (const [id, subscription] of wanted) {
      if (open.has(id)) continue;
      const notifier = createNotifier({
        config: webPushConfig(id, { kind: "web_push", ...subscription, vapid: { ...keys, subject } }),
        source: approvals,
        links: { page: server.pageLink },
        sent,
        onError: (error) => {
          if (NotifyError.isInstance(error) && error.code === "target_gone")
            devices.subscribe(id, undefined).catch(onError);
          else onError(error);
        },
      });
      open.set(id, { endpoint: subscription.endpoint, notifier });
      notifier.start();
    }
  };

  const stop = devices.onChange(sync);
  sync();
  return {
    async close(): Promise<void> {
      stop();
      await Promise.all([...open.values()].map(({ notifier }) => notifier.close()));
    },
  };
};
