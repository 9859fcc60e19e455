import type { StateStore } from "@harnesskit/ahp-server";
import type { AuditSink } from "@harnesskit/audit";
import { HarnessError } from "@harnesskit/wire";
import { oneLine } from "../terminal/one-line.ts";

/** Where the state of a harness lies: beside its audit log, whose lock keeps other processes away from both. */
const statePathOf = (auditPath: string): string => auditPath.replace(/(\.jsonl)?$/, ".state.jsonl");

export interface HarnessStateOptions {
  /** Of the audit log. */
  readonly auditPath: string;
  readonly sink: Pick<AuditSink, "record">;
  readonly say: (line: string) => void;
}

/**
 * Opens the store of runs, task lists and verifications. What is damaged is said and recorded, and the rest is used; where
 * the file cannot be used at all, that is said and recorded too, and the harness goes on without.
 */
export const openHarnessState = async (options: HarnessStateOptions): Promise<StateStore | undefined> => {
  const { auditPath, sink, say } = options;
  const { openFileStateStore } = await import("@harnesskit/ahp-server/node");
  const report = ({ code, message }: HarnessError, rest = ""): void => {
    sink.record({ action: "ahp.state", outcome: "failed", details: { reason: code } });
    say(`${oneLine(message, 500)}${rest} (${code})`);
  };
  try {
    return openFileStateStore({ path: statePathOf(auditPath), onError: (error) => report(error) });
  } catch (error) {
    if (!HarnessError.isInstance(error)) throw error;
    report(error, "; runs are forgotten at the end");
    return undefined;
  }
};
