import { type AuditEntryInput, type AuditSink, createMemoryAuditSink } from "@harnesskit/audit";

const noteOf = ({ action, agent_id: agent, tool_id: tool, details }: AuditEntryInput): string | undefined => {
  const about = agent ?? "an unknown agent";
  const why = String(details?.reason ?? details?.code ?? details?.limit ?? "no reason given");
  switch (action) {
    case "tool.rejected":
      return `the tool ${tool || "without an id"} of ${about} is rejected: ${why}`;
    case "agent.refused":
      return `a connection is refused (${about}): ${why}`;
    default:
      return undefined;
  }
};

/** The audit log behind `sink`, if there is one; refusals are also passed to `note`, each as one safe line. */
export const createCoreAudit = (sink: AuditSink | undefined, note: (line: string) => void): AuditSink => {
  const kept = sink ?? createMemoryAuditSink({ limits: { maxEntries: 1 } });
  return {
    record(entry) {
      kept.record(entry);
      const line = noteOf(entry);
      if (line !== undefined) note(line);
    },
    get isFull() {
      return kept.isFull;
    },
    flush: () => kept.flush(),
    close: () => kept.close(),
    addSecret: (value) => kept.addSecret(value),
    removeSecret: (value) => kept.removeSecret(value),
  };
};
