import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import type { HubClient, HubClientOptions } from "@harnesskit/hub/client";
import type { HubPlace } from "@harnesskit/hub/place";
import { answerOne } from "../inbox/answer-one.ts";
import type { AskTerminal } from "../terminal/asker.ts";
import { hubLabel, type Spinner } from "../terminal/spinner.ts";
import type { Style } from "../terminal/terminal.ts";
import { approvalViewLines, shownWhole } from "../timeline/approval-lines.ts";
import type { AskedAtHub } from "../timeline/judgements.ts";
import { endlessReconnect, hubClient } from "./hub-client.ts";

export interface HubQuestionsOptions {
  readonly place: HubPlace;
  /** How answers of this terminal are recorded. */
  readonly command: string;
  readonly version: string;
  readonly style: Style;
  /** Whether the user is asked here, too, now. */
  readonly asks: () => boolean;
  readonly askTerminal: AskTerminal;
  /** Who asks, and until when: safe text. @default where the session's questions can be answered beside here */
  readonly where?: ((record: ApprovalRecord) => string) | undefined;
  /** Shows that a human is waited for. */
  readonly spinner?: Spinner | undefined;
  /** Hears of the connection to the hub. */
  readonly onState?: HubClientOptions["onState"];
  /** Called after Ctrl-C at a question. */
  readonly onCancel: () => void;
  readonly onError: (error: unknown) => void;
}

const waitsText = ({ origin: { directory }, id }: ApprovalRecord): string =>
  `${directory === undefined ? "" : `in ${directory}; `}waits in the hub: its page, or harness inbox; ${id}`;

/** How long the end of a session waits for the answers to its questions. */
const endMs = 1000;

/** Shows what one session, or every one, asks at the hub, and who answered; the user may answer at this terminal, too. */
export class HubQuestions {
  readonly #options: HubQuestionsOptions;
  readonly #stop = new AbortController();
  /** Ends the question that is put; by approval. */
  readonly #put = new Map<string, AbortController>();
  #client: HubClient | undefined;
  readonly #counts = { asked: 0, approved: 0 };
  #asking: Promise<void> = Promise.resolve();
  /** How many questions are asked here, or wait for those before them: each comes behind the others, whatever the user is writing. */
  #asked = 0;

  constructor(options: HubQuestionsOptions) {
    this.#options = options;
  }

  /** Follows a session, or all. Settles when no later question can be missed. Never rejects: the hub's page shows the same. */
  async follow(session?: string): Promise<void> {
    const { place, command, version } = this.#options;
    const client = hubClient(place, {
      client: { name: command, version },
      reconnect: endlessReconnect,
      onState: this.#options.onState,
    });
    this.#client = client;
    await this.#reporting(async () => {
      await client.connect();
      const afterSeq = session === undefined ? 0 : await client.inboxSeq();
      if (session !== undefined) {
        // Questions of the session that were put before.
        const { records } = await client.call("inbox.list", { session, status: "pending" });
        for (const record of records) this.#changed(record, client);
      }
      void this.#reporting(async () => {
        for await (const record of client.watchInbox({ afterSeq, signal: this.#stop.signal })) {
          if (session === undefined || record.origin.session === session) this.#changed(record, client);
        }
      });
    });
  }

  /** Never rejects. */
  async #reporting(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#options.onError(error);
    }
  }

  /** What was asked so far, and approved by a human. */
  get counts(): AskedAtHub {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    await this.#readEnds();
    this.#stop.abort();
    for (const put of this.#put.values()) put.abort();
    await this.#client?.close();
  }

  /** An answer may reach the agent, and end its work, before this terminal has read it. */
  async #readEnds(): Promise<void> {
    const client = this.#client;
    if (client?.state !== "ready") return;
    const open = [...this.#put].filter(([, put]) => !put.signal.aborted);
    const read = async (id: string) => {
      const { record } = await client.call("inbox.get", { id }, { timeoutMs: endMs });
      this.#changed(record, client);
    };
    await Promise.allSettled(open.map(([id]) => read(id)));
  }

  #changed(record: ApprovalRecord, client: HubClient): void {
    const put = this.#put.get(record.id);
    if (record.status === "pending") {
      if (put === undefined) this.#question(record, client);
      return;
    }
    if (put === undefined || put.signal.aborted) return;
    put.abort(record);
    this.#put.delete(record.id);
    if (record.status === "approved") this.#counts.approved++;
    const { style, askTerminal } = this.#options;
    const by = record.answer === undefined ? "" : ` by ${record.answer.by}`;
    const note = record.answer?.note === undefined ? "" : `: ${record.answer.note}`;
    askTerminal.show([`  ${style.yellow(`${record.status}${by}${note}`)}`]);
  }

  #question(record: ApprovalRecord, client: HubClient): void {
    const { style, askTerminal, asks, where = waitsText } = this.#options;
    const put = new AbortController();
    this.#counts.asked++;
    this.#put.set(record.id, put);
    const lines = approvalViewLines(presentApproval(record, shownWhole), style, { where: where(record) });
    if (this.#asked > 0 || asks()) {
      this.#asked++;
      const asking = this.#asking.then(() => this.#ask(record, lines, client, put));
      this.#asking = asking.then(() => void this.#asked--);
      return;
    }
    askTerminal.show(lines);
    this.#waitAtHub(put);
  }

  #waitAtHub(put: AbortController): void {
    const resume = this.#options.spinner?.instead(hubLabel);
    if (resume !== undefined) put.signal.addEventListener("abort", resume, { once: true });
  }

  /** Never rejects. */
  async #ask(
    record: ApprovalRecord,
    lines: readonly string[],
    client: HubClient,
    put: AbortController,
  ): Promise<void> {
    const { askTerminal, style, spinner, onCancel, onError } = this.#options;
    const signal = AbortSignal.any([put.signal, this.#stop.signal]);
    if (signal.aborted) return;
    // Nothing moves on the terminal while the user chooses.
    const resume = spinner?.instead();
    try {
      const outcome = await answerOne(client, record, lines, signal, askTerminal);
      if (outcome === "interrupted") {
        put.abort();
        onCancel();
      } else if (outcome !== undefined && !signal.aborted) {
        if (outcome !== "later") askTerminal.show([`  ${style.yellow(outcome)}`]);
        this.#waitAtHub(put);
      }
    } catch (error) {
      onError(error);
    } finally {
      resume?.();
    }
  }

  /** Settles when the user has answered what is asked here, or someone else has. Never rejects. */
  async answered(): Promise<void> {
    for (let asking: Promise<void> | undefined; asking !== this.#asking; ) {
      asking = this.#asking;
      await asking;
    }
  }
}
