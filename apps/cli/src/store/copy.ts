import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { PostgresStore } from "@harnesskit/store-postgres";
import { openApprovalStore, openTimelineStore } from "@harnesskit/store-sqlite";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { emit } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { grantKeyPath, harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";
import { copyContinuations, copyRuns, copySessions, copySuspensions } from "./copy-conversations.ts";
import { copyApprovalGrants, copyApprovals, copyTimeline } from "./copy-hub.ts";
import type { CopyCount } from "./copy-kind.ts";
import { copyGrants, copyThreads, threadLeaseMs } from "./copy-threads.ts";
import {
  asWords,
  type CopySource,
  conversationsOf,
  describeLocation,
  toCopySource,
  toLocation,
} from "./location.ts";
import { openConversations, opening, openPostgres } from "./open.ts";

const name = "harness store copy";
/** A copy keeps what its source has kept: the hub removes by its own limits. */
const keepAll = { retentionMs: Number.MAX_SAFE_INTEGER, maxRecords: 100_000_000 };

/** What was copied, by kind. */
type Counts = Readonly<Record<string, CopyCount>>;
type Defer = (cleanup: () => unknown) => void;

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

const copyConversations = async (
  from: Extract<CopySource, { kind: "sqlite" }>,
  to: PostgresStore,
  defer: Defer,
): Promise<Counts> => {
  const source = await openConversations(from, name);
  defer(() => source.close());
  return {
    conversations: await copySessions(source.graph, to.graph),
    turns: await copySuspensions(source.graph, to.graph),
    // Turns that have neither ended nor paused.
    runs: await copyRuns(source.graph, to.graph),
    continuations: await copyContinuations(source.continuations, to.continuations),
  };
};

const copyFiles = async (directory: string, to: PostgresStore, defer: Defer): Promise<Counts> => {
  const unreadable: string[] = [];
  const threads = createFileThreadStore({
    root: harnessDirectory(directory),
    grantKeyPath: grantKeyPath(),
    onError: (_, { threadId }) => unreadable.push(threadId),
  });
  defer(() => threads.close());
  const counts = {
    threads: await copyThreads({ directory, threads }, to.threads),
    grants: await copyGrants(threads, to.threads),
  };
  if (unreadable.length > 0) {
    const what = `${unreadable.length} threads of FROM cannot be read, and were not copied`;
    throw new CliError("copy_failed", what, { hint: { to: "To see why", run: "harness doctor" } });
  }
  const conversations = conversationsOf(directory);
  if (!(await exists(conversations.file))) return counts;
  return { ...counts, ...(await copyConversations(conversations, to, defer)) };
};

const hubFiles = (directory: string) =>
  [join(directory, "approvals.db"), join(directory, "timeline.db")] as const;

/** Throws a usage error for FROM that is not there, before TO is opened. */
const checkSource = async (from: CopySource): Promise<void> => {
  if (from.kind === "files") await workspaceDirectory(from.directory);
  const files = from.kind === "hub" ? hubFiles(from.directory) : from.kind === "sqlite" ? [from.file] : [];
  if ((await Promise.all(files.map(exists))).every(Boolean)) return;
  const what = from.kind === "hub" ? `${from.directory} has no state of a hub` : `${files} does not exist`;
  throw usageError(`FROM: ${what}`, "FROM is sqlite:FILE, files:DIR or hub:DIR");
};

const copyHub = async (directory: string, to: PostgresStore, defer: Defer): Promise<Counts> => {
  const [approvalsFile, timelineFile] = hubFiles(directory);
  const approvals = await openApprovalStore({ file: approvalsFile, limits: keepAll });
  defer(() => approvals.close());
  const timeline = await openTimelineStore({ file: timelineFile });
  defer(() => timeline.close());
  return {
    // Grants first: an approval may name one.
    approvalGrants: await copyApprovalGrants(approvals, to.approvals),
    approvals: await copyApprovals(approvals, to.approvals),
    timeline: await copyTimeline(timeline, await to.openTimeline()),
  };
};

/**
 * `harness store copy`: copies everything of FROM to a database, and compares it. What TO has already is compared and left
 * as it is, so that an interrupted copy is repeated.
 */
export const copyStore = async (
  fromText: string,
  toText: string,
  { json }: { readonly json?: true },
): Promise<ExitCode> => {
  const [from, to] = [toCopySource(fromText), toLocation(toText)];
  if (to.kind !== "postgres") throw usageError("TO must be a database", "For example: postgres:");
  await checkSource(from);
  const copyOnce = (): Promise<Counts> =>
    withCleanup(async (defer) => {
      const target = await openPostgres(to, name, {
        approvals: { limits: keepAll },
        limits: { threadLeaseMs },
      });
      defer(() => target.close());
      return opening(to, () => {
        if (from.kind === "sqlite") return copyConversations(from, target, defer);
        return from.kind === "hub"
          ? copyHub(from.directory, target, defer)
          : copyFiles(from.directory, target, defer);
      });
    });
  const counts = await copyOnce();
  // What a second copy finds in TO, which another opening reads, is what FROM has.
  for (const [what, { copied }] of Object.entries(await copyOnce())) {
    if (copied === 0) continue;
    throw new CliError("copy_failed", `${copied} ${asWords(what)} were not in TO once they were copied`, {
      hint: "End the programs that use both stores, and copy again.",
    });
  }
  const verified = Object.values(counts).reduce((sum, { total }) => sum + total, 0);
  emit(json, { from: describeLocation(from), to: describeLocation(to), ...counts, verified }, () => [
    ...Object.entries(counts).map(([what, { total, copied }]) => {
      const before = total === copied ? "" : `, ${total - copied} were there`;
      return `${asWords(what).padEnd(16)} ${copied} copied${before}`;
    }),
    `verified         ${verified}`,
  ]);
  return ExitCode.done;
};
