import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import type { HubClient } from "@harnesskit/hub/client";
import { ExitCode, usageError } from "../cli-error.ts";
import { followHub } from "../hub/ask-hub.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { formatDuration, oneLine } from "../terminal/text.ts";
import { approvalViewLines, shownWhole } from "../timeline/approval-lines.ts";
import { answerOne } from "./answer-one.ts";

export interface InboxOptions {
  readonly state?: string;
  readonly watch?: true;
  readonly json?: true;
  readonly approve?: string;
  readonly reject?: string;
  readonly reason?: string;
  /** With `approve`: never asks for exactly this again, in this session, in its workspace or of this agent. */
  readonly always?: "session" | "workspace" | "agent";
  /** Ends a grant. */
  readonly revoke?: string;
  readonly grants?: true;
}

const checkOptions = ({ approve, reject, reason, always, revoke, grants, watch }: InboxOptions): void => {
  const chosen = [approve, reject, revoke, grants, watch].filter((each) => each !== undefined);
  if (chosen.length > 1) throw usageError("Give one of --watch, --approve, --reject, --grants and --revoke");
  if (reason !== undefined && reject === undefined) throw usageError("--reason belongs to --reject ID");
  if (always !== undefined && approve === undefined) throw usageError("--always belongs to --approve ID");
};

/** A pending question as lines. */
const recordLines = (record: ApprovalRecord, { style }: Terminal, nowMs: number): string[] => {
  const { origin, createdAtMs, expiresAtMs, id } = record;
  const place = origin.directory === undefined ? "" : `, in ${origin.directory}`;
  const subagent = origin.subagent === undefined ? "" : `, subagent ${oneLine(origin.subagent, 100)}`;
  const who = `${oneLine(origin.agent, 100)}${subagent}, session ${oneLine(origin.session, 100)}${place}`;
  const age = `asked ${formatDuration(Math.max(0, nowMs - createdAtMs))} ago`;
  const where = `${who}; ${age}, expires in ${formatDuration(Math.max(0, expiresAtMs - nowMs))}; ${id}`;
  return approvalViewLines(presentApproval(record, shownWhole), style, { where });
};

const pendingOf = async (client: HubClient): Promise<ApprovalRecord[]> => {
  const records: ApprovalRecord[] = [];
  for (let afterSeq = 0; ; ) {
    const page = await client.call("inbox.list", { status: "pending", afterSeq });
    records.push(...page.records);
    if (page.records.length === 0) return records;
    afterSeq = page.nextSeq;
  }
};

/** `harness inbox`: lists, watches and answers what waits in the hub. */
export const inbox = async (
  options: InboxOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  checkOptions(options);
  return followHub({ state: options.state, name: "harness inbox", version }, (client, signal) =>
    run(client, options, signal),
  );
};

const run = async (client: HubClient, options: InboxOptions, signal: AbortSignal): Promise<ExitCode> => {
  const terminal = createTerminal();
  const { approve, reject, revoke, grants } = options;
  if (grants) return listGrants(client, options, terminal);
  if (revoke !== undefined) {
    const { grants: kept } = await client.call("grants.list");
    const id = idWithPrefix(
      revoke,
      kept.map(({ grant }) => grant.id),
    );
    await client.call("grants.revoke", { id });
    terminal.say(`revoked ${id}`);
    return ExitCode.done;
  }
  const id = approve ?? reject;
  if (id !== undefined) return answerById(client, id, options, terminal);
  if (options.watch) return watch(client, options, terminal, signal);
  const records = await pendingOf(client);
  for (const record of records) show(record, options, terminal);
  if (records.length === 0 && !options.json) terminal.say("Nothing waits for you.");
  if (records.length > 0 && !options.json)
    terminal.say("To answer: harness inbox --watch, or --approve ID, --reject ID");
  return ExitCode.done;
};

const show = (record: ApprovalRecord, { json }: InboxOptions, terminal: Terminal): void => {
  if (json) terminal.json(record);
  else terminal.say([...recordLines(record, terminal, io().clock.now()), ""]);
};

const listGrants = async (
  client: HubClient,
  { json }: InboxOptions,
  terminal: Terminal,
): Promise<ExitCode> => {
  const { grants } = await client.call("grants.list");
  for (const { grant, lines } of grants) {
    if (json) terminal.json(grant);
    else {
      const state = grant.revoked === undefined ? "" : `, revoked by ${grant.revoked.by}`;
      terminal.say(`${grant.id}, given by ${grant.by}${state}`);
      terminal.say([...lines.map((line) => `  ${line}`), ""]);
    }
  }
  if (grants.length === 0 && !json) terminal.say("No grants.");
  return ExitCode.done;
};

const answerById = async (
  client: HubClient,
  given: string,
  { approve, reason, always }: InboxOptions,
  terminal: Terminal,
): Promise<ExitCode> => {
  const id = idWithPrefix(
    given,
    (await pendingOf(client)).map((record) => record.id),
  );
  const { record } = await client.call("inbox.get", { id });
  const grant = always === undefined ? {} : { always: { reach: always } };
  const answered = await client.call("inbox.answer", {
    id,
    digest: record.digest,
    decision: approve === undefined ? "reject" : "approve",
    note: reason,
    ...grant,
  });
  terminal.say(`${answered.record.status} ${id}`);
  return ExitCode.done;
};

/** Shows each question as it comes; at a terminal it is answered here, or elsewhere, whichever is first. */
const watch = async (
  client: HubClient,
  options: InboxOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> => {
  const canAsk = io().stdin.isTTY && io().stdout.isTTY && !options.json;
  if (canAsk) terminal.say(terminal.style.dim("Waiting for questions; Ctrl-C ends."));
  const waiting = new Map<string, ApprovalRecord>();
  const changed = new Map<string, (record: ApprovalRecord) => void>();
  let wake = () => {};
  const asking = canAsk
    ? answerAll(client, terminal, signal, waiting, changed, (next) => (wake = next))
    : undefined;
  for await (const record of client.watchInbox({ afterSeq: 0, signal })) {
    if (record.status !== "pending") {
      waiting.delete(record.id);
      changed.get(record.id)?.(record);
      if (options.json) show(record, options, terminal);
      continue;
    }
    waiting.set(record.id, record);
    if (canAsk) wake();
    else show(record, options, terminal);
  }
  await asking;
  return ExitCode.done;
};

const answerAll = async (
  client: HubClient,
  terminal: Terminal,
  signal: AbortSignal,
  waiting: Map<string, ApprovalRecord>,
  changed: Map<string, (record: ApprovalRecord) => void>,
  onWake: (wake: () => void) => void,
): Promise<void> => {
  while (!signal.aborted) {
    const [record] = waiting.values();
    if (record === undefined) {
      await new Promise<void>((resolve) => {
        onWake(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
        if (waiting.size > 0) resolve();
      });
      continue;
    }
    const settled = new AbortController();
    changed.set(record.id, (now) => settled.abort(now));
    const lines = recordLines(record, terminal, io().clock.now());
    const outcome = await answerOne(client, record, lines, AbortSignal.any([signal, settled.signal]), {
      show: (part) => terminal.say(part),
    });
    changed.delete(record.id);
    waiting.delete(record.id);
    if (outcome === "interrupted") {
      io().signals.emit("SIGINT", "SIGINT");
      return;
    }
    const now = settled.signal.aborted ? (settled.signal.reason as ApprovalRecord) : undefined;
    const text =
      (outcome === "later" ? "left waiting" : outcome) ??
      (now === undefined ? "" : `answered by ${oneLine(now.answer?.by ?? now.status, 100)}: ${now.status}`);
    if (text !== "") terminal.say([`  ${terminal.style.yellow(text)}`, ""]);
  }
};
