import { BoundedMap } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { idKey, objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ActionOutcome, ProxiedAction } from "../proxy/rulings.ts";

export interface RunningTerminal {
  readonly action: ProxiedAction;
  readonly startedMs: number;
}

/** How a command ended, in the answer to `terminal/wait_for_exit` or `terminal/output`. */
const exitOf = (result: unknown): ActionOutcome | undefined => {
  const answer = objectOf(result);
  const { exitCode, signal } = answer.exitStatus === undefined ? answer : objectOf(answer.exitStatus);
  const shown = defined({
    exit_code: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal.slice(0, 100) : undefined,
  });
  if (exitCode === 0) return { outcome: "success", result: shown };
  if (typeof exitCode === "number")
    return { outcome: "error", error: `exit code ${exitCode}`, result: shown };
  if (typeof signal === "string") {
    return { outcome: "error", error: `ended by ${signal.slice(0, 100)}`, result: shown };
  }
  return undefined;
};

/** Commands that run in terminals of the editor, until the agent learns how they ended. */
export class AcpTerminals {
  readonly #report: (terminal: RunningTerminal, outcome: ActionOutcome) => void;
  readonly #running: BoundedMap<string, RunningTerminal>;
  /** Requests of the agent about a terminal. */
  readonly #asked: BoundedMap<string, string>;

  constructor(report: (terminal: RunningTerminal, outcome: ActionOutcome) => void, maxSize: number) {
    this.#report = report;
    this.#running = new BoundedMap({ maxSize });
    this.#asked = new BoundedMap({ maxSize });
  }

  /** A terminal was created. */
  start(session: string, terminalId: unknown, terminal: RunningTerminal): void {
    this.#running.set(idKey([session, terminalId]), terminal);
  }

  /** A request of the agent. */
  noteRequest({ id, method, params }: RpcMessage): void {
    const { sessionId, terminalId } = objectOf(params);
    const key = idKey([sessionId, terminalId]);
    if (!this.#running.has(key)) return;
    if (method === "terminal/wait_for_exit" || method === "terminal/output") this.#asked.set(idKey(id), key);
    else if (method === "terminal/release") {
      this.#end(key, {
        outcome: "unknown",
        error: "the agent released the terminal before its command ended",
      });
    }
  }

  /** An answer of the editor. */
  noteAnswer({ id, result }: RpcMessage): void {
    const key = this.#asked.get(idKey(id));
    if (key === undefined) return;
    this.#asked.delete(idKey(id));
    const outcome = exitOf(result);
    if (outcome) this.#end(key, outcome);
  }

  close(): void {
    for (const key of this.#running.keys()) {
      this.#end(key, { outcome: "unknown", error: "the proxy ended before the command" });
    }
  }

  #end(key: string, outcome: ActionOutcome): void {
    const terminal = this.#running.get(key);
    if (terminal === undefined) return;
    this.#running.delete(key);
    this.#report(terminal, outcome);
  }
}
