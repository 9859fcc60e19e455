import { existsSync } from "node:fs";
import { join } from "node:path";
import { csvHeader, csvRow, happenings, saysSomething, shownAtMs } from "@harnesskit/hub/client";
import type { HubMethodParams, TimelineFilter, TimelinePage, TimelineRow } from "@harnesskit/protocol/hub";
import { approvalWord, decisionWord, rowName, rowSubject } from "@harnesskit/timeline";
import { defined } from "@harnesskit/wire/json";
import stringWidth from "fast-string-width";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { hubPlaceAt } from "../hub/find-hub.ts";
import { followHub } from "../hub/hub-client.ts";
import { io } from "../io.ts";
import { createTerminal, note, type Terminal } from "../terminal/terminal.ts";
import { formatDuration, formatTime, oneLine } from "../terminal/text.ts";

export interface TimelineOptions {
  readonly state?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly failed?: true;
  readonly text?: string;
  /** Rows that are no older than so many milliseconds. */
  readonly since?: number;
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
    sinceMs: since === undefined ? undefined : io().clock.now() - since,
  });

type ReadPage = (request: HubMethodParams<"timeline.page">) => Promise<TimelinePage>;
type Arrange = (newestFirst: readonly TimelineRow[]) => readonly TimelineRow[];

const byId: Arrange = (rows) => rows.toReversed();

/** The newest rows that fit, as `arrange` leaves and orders them, the oldest first; and the number of the newest change. */
const readRows = async (read: ReadPage, filter: TimelineFilter, limit: number, arrange: Arrange) => {
  const rows: TimelineRow[] = [];
  let lastSeq: number | undefined;
  let beforeId: number | undefined;
  do {
    const page = await read({ filter, beforeId, limit: pageSize });
    rows.push(...page.rows);
    lastSeq ??= page.lastSeq;
    beforeId = page.nextBeforeId;
    // No more are shown than were read: most pages need no look at what is shown of them.
  } while (beforeId !== undefined && (limit === 0 || rows.length < limit || arrange(rows).length < limit));
  return { rows: arrange(rows).slice(-limit), lastSeq };
};

const whoDecided = ({ decision, approval }: TimelineRow): string => {
  if (approval !== undefined && approval.status !== "pending")
    return `${approvalWord(approval)}${approval.by === undefined ? "" : ` by ${approval.by}`}`;
  if (decision === undefined) return "";
  if (decision.source === "none") return "not asked";
  const shadow = decision.mode === "shadow" ? " (shadow)" : "";
  return `${decisionWord(decision.decision)}${decision.rule === undefined ? "" : ` by rule ${decision.rule}`}${shadow}`;
};

/** A row: at a terminal of its day, with what happened cut to what is left of a line. */
const textOf = (row: TimelineRow, { style, columns }: Terminal): string => {
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
  const end = [
    oneLine(whoDecided(row), 120),
    ...(["noted", "done"].includes(state) ? [] : [state]),
    took,
    state === "failed" && outcome !== undefined ? outcome : "",
  ].filter((part) => part !== "");
  const tail = end.length === 0 ? "" : ` · ${end.join(" · ")}`;
  const when = formatTime(shownAtMs(row), "seconds");
  const time = columns === undefined ? when : when.slice("2026-11-29 ".length);
  const head = `${time}  ${oneLine(agent, 60)}  `;
  const name = oneLine(rowName(row), 60);
  const room = (columns ?? Number.POSITIVE_INFINITY) - stringWidth(`  ${head}${name} ${tail}`);
  const subject = columns === undefined ? rowSubject(row) : oneLine(rowSubject(row), Math.max(20, room));
  return `${mark} ${style.dim(head)}${`${style.bold(name)} ${subject}`.trimEnd()}${style.dim(tail)}`;
};

/** The rows that a hub has left, where none runs: read from its file, in which nothing is changed. Rejects with `error` where there is no file. */
const readLeftRows = async <T>(
  error: unknown,
  state: string | undefined,
  read: (page: ReadPage) => Promise<T>,
): Promise<T> => {
  if (!CliError.isInstance(error) || error.code !== "hub_unavailable") throw error;
  const { directory } = hubPlaceAt(state);
  const file = join(directory, "timeline.db");
  if (!existsSync(file)) throw error;
  const { openTimelineReader } = await import("@harnesskit/store-sqlite");
  const reader = await openTimelineReader({ file });
  note(`harness timeline: no hub runs; this is what one left in ${file}`);
  return read(reader.page).finally(() => reader.close());
};

/** `harness timeline`: the rows of the hub, for people, or as JSON lines or CSV. */
export const timeline = (
  options: TimelineOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const { state, limit = 50, follow, json, csv } = options;
  if (json && csv) throw usageError("Give --json or --csv");
  const filter = toFilter(options);
  const terminal = createTerminal();
  const isRaw = json === true || csv === true;
  let day = "";
  const write = (row: TimelineRow): void => {
    if (json) terminal.json(row);
    else if (csv) terminal.write(csvRow(row));
    else {
      const [date = ""] = formatTime(shownAtMs(row)).split(" ");
      if (terminal.columns !== undefined && date !== day) terminal.say(terminal.style.dim(date));
      day = date;
      terminal.say(textOf(row, terminal), "  ");
    }
  };
  const showRows = async (read: ReadPage) => {
    if (csv) terminal.write(csvHeader);
    const { rows, lastSeq } = await readRows(read, filter, limit, isRaw ? byId : happenings);
    for (const row of rows) {
      write(row);
      await terminal.ready();
    }
    if (rows.length === 0 && !isRaw && !follow) terminal.say("No row fits.");
    return lastSeq;
  };
  return followHub({ state, name: "harness timeline", version, stays: follow }, async (client, signal) => {
    const lastSeq = await showRows((request) => client.call("timeline.page", request));
    if (!follow) return ExitCode.done;
    for await (const changed of client.watchTimeline({ filter, afterSeq: lastSeq, signal }))
      for (const row of changed) if (isRaw || saysSomething(row)) write(row);
    return ExitCode.done;
  }).catch(async (error: unknown) => {
    if (follow) throw error;
    await readLeftRows(error, state, showRows);
    return ExitCode.done;
  });
};
