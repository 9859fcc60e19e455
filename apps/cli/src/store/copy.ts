import { stat } from "node:fs/promises";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { grantKeyPath, harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";
import { artifactFiles } from "./copy-artifacts.ts";
import { copyContinuations, verifyContinuations } from "./copy-continuations.ts";
import { copyRuns, copySessions, copySuspensions, verifyConversations } from "./copy-conversations.ts";
import type { CopyCount } from "./copy-count.ts";
import { copyHub, copyRunsOf, copyShared } from "./copy-shared.ts";
import { copyGrants, copyThreads, type ThreadSource, threadLeaseMs, verifyThreads } from "./copy-threads.ts";
import { type Left, leftBehind } from "./left-behind.ts";
import {
  conversationsOf,
  describeLocation,
  type StoreLocation,
  toCopySource,
  toLocation,
} from "./location.ts";
import { openConversations, opening, openPostgres } from "./open.ts";

const name = "harness store copy";

/** What was copied, by kind. */
export interface CopyReport {
  conversations?: CopyCount;
  turns?: CopyCount;
  /** Turns that have neither ended nor paused. */
  runs?: CopyCount;
  continuations?: CopyCount;
  threads?: CopyCount;
  /** `always` answers of threads. */
  grants?: CopyCount;
  approvals?: CopyCount;
  approvalGrants?: CopyCount;
  timeline?: CopyCount;
  /** Records of the runs of AHP servers. */
  ahpRuns?: CopyCount;
  /** How many were compared by their digests. */
  verified: number;
}

export type Defer = (cleanup: () => unknown) => void;

const copyConversations = async (
  from: StoreLocation,
  to: StoreLocation,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  const source = await openConversations(from, name, { mustExist: true });
  defer(() => source.close());
  const target = await openConversations(to, name);
  defer(() => target.close());
  await opening(to, async () => {
    report.conversations = await copySessions(source.graph, target.graph);
    report.turns = await copySuspensions(source.graph, target.graph);
    report.runs = await copyRuns(source.graph, target.graph);
    report.continuations = await copyContinuations(source.continuations, target.continuations);
  });
  // Another opening of TO has nothing of it in memory.
  const read = await openConversations(to, name);
  defer(() => read.close());
  report.verified += await verifyConversations(source.graph, read.graph);
  report.verified += await verifyContinuations(source.continuations, read.continuations);
};

type Database = Extract<StoreLocation, { kind: "postgres" }>;

/** Copies threads with their artifacts and grants. */
const copyThreadsTo = async (
  source: ThreadSource,
  to: Database,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  const { threads: target, close } = await openPostgres(to, name, { limits: { threadLeaseMs } });
  defer(close);
  await opening(to, async () => {
    report.threads = await copyThreads(source, target);
    report.grants = await copyGrants(source.threads, target);
    report.verified += await verifyThreads(source, target);
  });
};

const copyFiles = async (
  { directory }: Extract<StoreLocation, { kind: "files" }>,
  to: Database,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  const unreadable: string[] = [];
  const threads = createFileThreadStore({
    root: harnessDirectory(directory),
    grantKeyPath: grantKeyPath(),
    onError: (_, { threadId }) => unreadable.push(threadId),
  });
  defer(() => threads.close());
  await copyThreadsTo({ threads, files: artifactFiles(directory) }, to, report, defer);
  if (unreadable.length === 0) return;
  throw new CliError(
    "copy_failed",
    `${unreadable.length} threads of FROM cannot be read, and were not copied`,
    {
      hint: "To see why: harness doctor",
    },
  );
};

const asWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/**
 * `harness store copy`: copies everything of FROM to TO, and compares it. What TO has already is left as it is, so that an
 * interrupted copy is repeated.
 */
export const copyStore = (
  fromText: string,
  toText: string,
  { json }: { readonly json?: true },
): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const [from, to] = [toCopySource(fromText), toLocation(toText)];
    if (to.kind === "files")
      throw usageError("TO must be postgres: or sqlite:FILE", "For example: postgres:");
    if (describeLocation(from) === describeLocation(to)) throw usageError("FROM and TO are the same store");
    const report: CopyReport = { verified: 0 };
    let left: Left = {};
    if (from.kind === "hub" || from.kind === "runs") {
      if (to.kind !== "postgres") throw usageError(`TO must be postgres: for ${from.kind}:`);
      if (from.kind === "hub") await copyHub(from, to, report, defer);
      else await copyRunsOf(from, to, report, defer);
    } else if (from.kind === "files") {
      await workspaceDirectory(from.directory);
      if (to.kind !== "postgres") {
        throw usageError(
          "threads are kept in files or PostgreSQL",
          "Copy the conversations alone: sqlite:FILE",
        );
      }
      await copyFiles(from, to, report, defer);
      const conversations = conversationsOf(from);
      if (conversations.kind === "sqlite" && (await exists(conversations.file))) {
        await copyConversations(conversations, to, report, defer);
      }
    } else {
      await copyConversations(from, to, report, defer);
      if (from.kind === "postgres") {
        const store = await openPostgres(from, name, { limits: { threadLeaseMs } });
        defer(() => store.close());
        const { threads } = store;
        if (to.kind === "postgres") {
          await copyThreadsTo({ threads, files: threads }, to, report, defer);
          await copyShared(from, to, report, defer);
        } else left = await leftBehind(from, threads);
      }
    }
    const terminal = createTerminal();
    const { verified, ...counts } = report;
    if (json) {
      terminal.json({ from: describeLocation(from), to: describeLocation(to), ...counts, verified, left });
      return ExitCode.done;
    }
    for (const [what, { total, copied }] of Object.entries(counts) as [string, CopyCount][]) {
      const before = total === copied ? "" : `, ${total - copied} were there`;
      terminal.say(`${asWords(what).padEnd(16)} ${copied} copied${before}`);
    }
    terminal.say(`verified         ${verified} by their digests`);
    const others = Object.entries(left).map(([what, count]) => `${count} ${asWords(what)}`);
    if (others.length > 0) {
      terminal.say(`left in FROM     ${others.join(", ")}: a SQLite file keeps conversations only`);
    }
    return ExitCode.done;
  });
