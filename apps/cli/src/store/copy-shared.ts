import { stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { openFileStateStore } from "@harnesskit/ahp-server/node";
import { openApprovalStore, openTimelineStore } from "@harnesskit/store-sqlite";
import { usageError } from "../cli-error.ts";
import type { CopyReport, Defer } from "./copy.ts";
import { copyApprovalGrants, copyApprovals, copyTimeline, type HubParts, verifyHub } from "./copy-hub.ts";
import { copyRunState, verifyRunState } from "./copy-runs.ts";
import { type CopySource, describeLocation, type StoreLocation } from "./location.ts";
import { opening, openPostgres } from "./open.ts";

type Database = Extract<StoreLocation, { kind: "postgres" }>;

const name = "harness store copy";
/** A copy keeps what its source has kept: the hub removes by its own limits. */
const keepAll = { retentionMs: Number.MAX_SAFE_INTEGER, maxRecords: 100_000_000 };

const openHubPart = async (location: Database, defer: Defer): Promise<HubParts> => {
  const store = await openPostgres(location, name, { approvals: { limits: keepAll } });
  defer(() => store.close());
  return { approvals: store.approvals, timeline: await opening(location, () => store.openTimeline()) };
};

const copyParts = async (from: HubParts, to: Database, report: CopyReport, defer: Defer): Promise<void> => {
  const target = await openHubPart(to, defer);
  await opening(to, async () => {
    // Grants first: an approval may name one.
    report.approvalGrants = await copyApprovalGrants(from.approvals, target.approvals);
    report.approvals = await copyApprovals(from.approvals, target.approvals);
    report.timeline = await copyTimeline(from.timeline, target.timeline);
    report.verified += await verifyHub(from, target);
  });
};

const demandFile = async (location: CopySource, file: string): Promise<void> => {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw usageError(`${describeLocation(location)} has no file of this kind`);
};

/** Copies the approvals, grants and the timeline of a hub that keeps them in files. */
export const copyHub = async (
  from: Extract<CopySource, { kind: "hub" }>,
  to: Database,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  const [approvalsFile, timelineFile] = ["approvals.db", "timeline.db"].map((file) =>
    join(from.directory, file),
  ) as [string, string];
  await demandFile(from, approvalsFile);
  await demandFile(from, timelineFile);
  const approvals = await openApprovalStore({ file: approvalsFile, limits: keepAll });
  defer(() => approvals.close());
  const timeline = await openTimelineStore({ file: timelineFile });
  defer(() => timeline.close());
  await copyParts({ approvals, timeline }, to, report, defer);
};

/** Copies the runs that `harness ahp serve` keeps in a file, under the name that it has in a database. */
export const copyRunsOf = async (
  from: Extract<CopySource, { kind: "runs" }>,
  to: Database,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  await demandFile(from, from.file);
  const source = openFileStateStore({ path: from.file });
  defer(() => source.close());
  const store = await openPostgres(to, name);
  defer(() => store.close());
  const audit = from.file.replace(/\.state\.jsonl$/, ".jsonl");
  const stateName = `${hostname()}:${audit}`.slice(-200);
  await opening(to, async () => {
    const target = await store.openRunState(stateName);
    report.ahpRuns = await copyRunState(stateName, source, target);
    await target.close();
    report.verified += await verifyRunState(stateName, source, await store.openRunState(stateName));
  });
};

/** Copies what hubs and AHP servers keep in one database to another. */
export const copyShared = async (
  from: Database,
  to: Database,
  report: CopyReport,
  defer: Defer,
): Promise<void> => {
  await copyParts(await openHubPart(from, defer), to, report, defer);
  const source = await openPostgres(from, name);
  defer(() => source.close());
  const target = await openPostgres(to, name);
  defer(() => target.close());
  let [total, copied] = [0, 0];
  for (const stateName of await source.runStates()) {
    const state = await source.openRunState(stateName);
    const written = await target.openRunState(stateName);
    const count = await copyRunState(stateName, state, written);
    await written.close();
    total += count.total;
    copied += count.copied;
    report.verified += await verifyRunState(stateName, state, await target.openRunState(stateName));
  }
  report.ahpRuns = { total, copied };
};
