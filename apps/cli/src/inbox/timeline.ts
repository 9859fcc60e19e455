import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  csvHeader,
  csvRow,
  type HubClient,
  happenings,
  rowName,
  rowSubject,
  saysSomething,
  shownAtMs,
} from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import type { TimelineFilter, TimelineRow } from "@harnesskit/protocol/hub";
import { defined } from "@harnesskit/wire/json";
import { CliError, ExitCode, unavailableError, usageError } from "../cli-error.ts";
import { followHub } from "../hub/ask-hub.ts";
import { fromHere, io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { formatDuration, formatTime, oneLine } from "../terminal/text.ts";
import { toAgeMs } from "../threads/prune.ts";

export interface TimelineOptions {
  readonly state?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly failed?: true;
  readonly text?: string;
  readonly since?: string;
  /** The newest so many; 0: all. @default 50 */
  readonly limit?: number;
  readonly follow?: true;
  readonly json?: true;
  readonly csv?: true;
}

const pageSize = 200;

const toFilter = ({ agent, session, tool, failed, text, since }: TimelineOptions): TimelineFilter =>
  defined({
    ...{ agent, session, tool, text, failedOnly: failed },
    sinceMs: since === undefined ? undefined : io().clock.now() - toAgeMs(since, "--since"),
  });

type Arrange = (newestFirst: readonly TimelineRow[]) => readonly TimelineRow[];

const byId: Arrange = (rows) => rows.toReversed();

/** The newest rows that fit, as `arrange` leaves and orders them, the oldest first; and the number of the newest change. */
const readRows = async (client: HubClient, filter: TimelineFilter, limit: number, arrange: Arrange) => {
  const rows: TimelineRow[] = [];
  let lastSeq: number | undefined;
  let beforeId: number | undefined;
  do {
    const page = await client.call("timeline.page", { filter, beforeId, limit: pageSize });
    rows.push(...page.rows);
    lastSeq ??= page.lastSeq;
    beforeId = page.nextBeforeId;
    // No more are shown than were read: most pages need no look at what is shown of them.
  } while (beforeId !== undefined && (limit === 0 || rows.length < limit || arrange(rows).length < limit));
  return { rows: arrange(rows).slice(-limit), lastSeq };
};

const whoDecided = ({ decision, approval }: TimelineRow): string => {
  if (approval !== undefined && approval.status !== "pending")
    return `${approval.status}${approval.by === undefined ? "" : ` by ${approval.by}`}`;
  if (decision === undefined) return "";
  if (decision.source === "none") return "not asked";
  const shadow = decision.mode === "shadow" ? " (shadow)" : "";
  return `${decision.decision}${decision.rule === undefined ? "" : ` by ${decision.rule}`}${shadow}`;
};

const textOf = (row: TimelineRow, { style }: Terminal): string => {
  const { agent, state, durationMs, outcome } = row;
  const mark =
    {
      done: style.green("✓"),
      failed: style.red("✗"),
      refused: style.red("✗"),
      waiting: style.yellow("…"),
      unknown: style.yellow("?"),
    }[state as string] ?? style.dim("·");
  const took =
    durationMs !== undefined && (state === "done" || state === "failed") ? formatDuration(durationMs) : "";
  const what = `${style.bold(oneLine(rowName(row), 60))} ${rowSubject(row)}`.trimEnd();
  const end = [
    oneLine(whoDecided(row), 120),
    ...(["noted", "done"].includes(state) ? [] : [state]),
    took,
    state === "failed" && outcome !== undefined ? outcome : "",
  ].filter((part) => part !== "");
  const tail = end.length === 0 ? "" : style.dim(` · ${end.join(" · ")}`);
  return `${mark} ${style.dim(formatTime(shownAtMs(row), "seconds"))}  ${oneLine(agent, 60)}  ${what}${tail}`;
};

/** Where no hub runs, its file is still there: only a hub reads it. */
const sayWhereRowsAre = async (error: unknown, state: string | undefined): Promise<never> => {
  if (!(error instanceof CliError) || error.code !== "hub_unavailable") throw error;
  const { directory } = hubPlace({ state: state === undefined ? undefined : fromHere(state), env: io().env });
  const file = join(directory, "timeline.db");
  const isKept = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isKept) throw error;
  const hint = [`What happened before is kept in ${file}; a hub shows it`, ...[error.hint ?? []].flat()];
  throw unavailableError(error.code, error.message, { hint, cause: error });
};

/** `harness timeline`: the rows of the hub, for people, or as JSON lines or CSV. */
export const timeline = (
  options: TimelineOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const { state, limit = 50, follow, json, csv } = options;
  if (json && csv) throw usageError("Give --json or --csv");
  const filter = toFilter(options);
  return followHub({ state, name: "harness timeline", version }, async (client, signal) => {
    const terminal = createTerminal();
    const isRaw = json === true || csv === true;
    const write = (row: TimelineRow): void => {
      if (json) terminal.json(row);
      else if (csv) terminal.write(csvRow(row));
      else terminal.say(textOf(row, terminal), "  ");
    };
    if (csv) terminal.write(csvHeader);
    const { rows, lastSeq } = await readRows(client, filter, limit, isRaw ? byId : happenings);
    for (const row of rows) {
      write(row);
      await terminal.ready();
    }
    if (!follow) {
      if (rows.length === 0 && !json && !csv) terminal.say("No row fits.");
      return ExitCode.done;
    }
    for await (const changed of client.watchTimeline({ filter, afterSeq: lastSeq, signal }))
      for (const row of changed) if (isRaw || saysSomething(row)) write(row);
    return ExitCode.done;
  }).catch((error: unknown) => sayWhereRowsAre(error, state));
};
