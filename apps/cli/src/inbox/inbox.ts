import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import type { HubClient } from "@harnesskit/hub/client";
import { createDeferred } from "@harnesskit/wire";
import { ExitCode, usageError } from "../cli-error.ts";
import { requireHub } from "../hub/find-hub.ts";
import { followHub, stayWithHub } from "../hub/hub-client.ts";
import { HubQuestions } from "../hub/hub-questions.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { Interrupts } from "../interruption.ts";
import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { formatDuration, oneLine } from "../terminal/text.ts";
import { approvalViewLines, shownWhole } from "../timeline/approval-lines.ts";

export interface InboxOptions {
  readonly state?: string;
  readonly watch?: true;
  readonly json?: true;
  readonly approve?: string;
  readonly reject?: string;
  readonly reason?: string;
  /** Ends a grant. */
  readonly revoke?: string;
  readonly grants?: true;
}

const checkOptions = ({ approve, reject, reason, revoke, grants, watch }: InboxOptions): void => {
  const chosen = [approve, reject, revoke, grants, watch].filter((each) => each !== undefined);
  if (chosen.length > 1) throw usageError("Give one of --watch, --approve, --reject, --grants and --revoke");
  if (reason !== undefined && reject === undefined) throw usageError("--reason belongs to --reject ID");
};

/** Who asks, since when, and until when. */
const whereOf = ({ origin, createdAtMs, expiresAtMs, id }: ApprovalRecord): string => {
  const nowMs = io().clock.now();
  const place = origin.directory === undefined ? "" : `, in ${origin.directory}`;
  const subagent = origin.subagent === undefined ? "" : `, subagent ${oneLine(origin.subagent, 100)}`;
  const who = `${oneLine(origin.agent, 100)}${subagent}, session ${oneLine(origin.session, 100)}${place}`;
  const age = `asked ${formatDuration(Math.max(0, nowMs - createdAtMs))} ago`;
  return `${who}; ${age}, expires in ${formatDuration(Math.max(0, expiresAtMs - nowMs))}; ${id}`;
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
  if (options.watch && !options.json && io().stdin.isTTY && io().stdout.isTTY)
    return answerAll(options, version);
  return followHub(
    { state: options.state, name: "harness inbox", version, stays: options.watch },
    (client, signal) => run(client, options, signal),
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
  if (options.watch) return watchChanges(client, options, terminal, signal);
  const records = await pendingOf(client);
  for (const record of records) show(record, options, terminal);
  if (records.length === 0 && !options.json) terminal.say("Nothing waits for you.");
  if (records.length > 0 && !options.json)
    terminal.say("To answer: harness inbox --watch, or --approve ID, --reject ID");
  return ExitCode.done;
};

const show = (record: ApprovalRecord, { json }: InboxOptions, terminal: Terminal): void => {
  if (json) terminal.json(record);
  else {
    const where = whereOf(record);
    terminal.say([...approvalViewLines(presentApproval(record, shownWhole), terminal.style, { where }), ""]);
  }
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
  { approve, reason }: InboxOptions,
  terminal: Terminal,
): Promise<ExitCode> => {
  const id = idWithPrefix(
    given,
    (await pendingOf(client)).map((record) => record.id),
  );
  const { record } = await client.call("inbox.get", { id });
  const answered = await client.call("inbox.answer", {
    id,
    digest: record.digest,
    decision: approve === undefined ? "reject" : "approve",
    note: reason,
  });
  terminal.say(`${answered.record.status} ${id}`);
  return ExitCode.done;
};

/** Shows each question as it comes, and each answer. */
const watchChanges = async (
  client: HubClient,
  options: InboxOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> => {
  for await (const record of client.watchInbox({ afterSeq: 0, signal }))
    if (record.status === "pending" || options.json) show(record, options, terminal);
  return ExitCode.done;
};

/** Puts each question to the user of the terminal as it comes; it is answered here, or elsewhere, whichever is first. */
const answerAll = async ({ state }: InboxOptions, version: string): Promise<ExitCode> => {
  const place = await requireHub(state);
  const terminal = createTerminal();
  const { style } = terminal;
  const over = createDeferred<void>();
  const interrupts = new Interrupts(() => io().exit(ExitCode.interrupted));
  interrupts.signal.addEventListener("abort", () => over.resolve());
  interrupts.listen();
  const { onState } = stayWithHub("harness inbox");
  const questions = new HubQuestions({
    ...{ place, command: "harness inbox", version, style, where: whereOf },
    asks: () => true,
    askTerminal: { show: (lines) => void terminal.say(lines) },
    // Nothing is written below a question that is open.
    onState: (state) => void questions.answered().then(() => onState?.(state)),
    onCancel: interrupts.interrupt,
    onError: over.reject,
  });
  try {
    terminal.say(style.dim("Waiting for questions; Ctrl-C ends."));
    await questions.follow();
    await over.promise;
    return ExitCode.done;
  } finally {
    await questions.close();
    interrupts.dispose();
  }
};
