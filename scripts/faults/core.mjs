// A core in a process of its own, with a log. It does what the messages of its parent ask for, and tells what became of
// it. What it tells of a call is in the log by then.
import { built } from "./built.mjs";

const { openFileAuditSink } = await import(built.audit);
const { startCore } = await import(built.coreRuntime);
const { auditPath, socketDirectory, directories } = JSON.parse(process.argv[2]);

const audit = await openFileAuditSink({ path: auditPath });
/** Ids of calls with an entry, and what is called when one gets its first. */
const recorded = new Set();
const waiting = new Map();
const core = await startCore({
  audit: {
    record(entry) {
      audit.record(entry);
      recorded.add(entry.call_id);
      waiting.get(entry.call_id)?.();
    },
    flush: () => audit.flush(),
    close: () => audit.close(),
    addSecret: (value) => audit.addSecret(value),
    removeSecret: (value) => audit.removeSecret(value),
  },
  // The faults are about anything but permissions.
  authorize: () => ({ allowed: true }),
  socketDirectory,
  agents: directories,
  heartbeatIntervalMs: 250,
  missedHeartbeats: 4,
  unhealthyTimeoutMs: 300,
  helloTimeoutMs: 5000,
  connectTimeoutMs: 5000,
  registerTimeoutMs: 3000,
  reconnectTimeoutMs: 300,
  cancelGraceMs: 1200,
  drainTimeoutMs: 1000,
  goodbyeGraceMs: 300,
  stopGraceMs: 300,
});
const tell = (message) => {
  if (process.connected) process.send(message, () => {});
};

const calls = new Map();

/** Tells of each chunk, so that it is known how far a call has come. */
const readStream = async (call, requestId) => {
  for await (const { seq } of call.stream) tell({ type: "chunk", requestId, seq });
};

const makeCall = async ({ requestId, toolId, input }) => {
  const call = core.call(toolId, input, { requestId, timeoutMs: 60_000 });
  const { callId } = call;
  calls.set(requestId, call);
  if (!recorded.has(callId)) await new Promise((resolve) => waiting.set(callId, resolve));
  waiting.delete(callId);
  void call.result.then(async ({ status, error }) => {
    calls.delete(requestId);
    await audit.flush();
    tell({ type: "settled", requestId, callId, code: status === "succeeded" ? status : error.code });
  });
  if (toolId.endsWith("/stream")) void readStream(call, requestId);
  await audit.flush();
  tell({ type: "made", requestId, callId });
};

/** Runs a slow operation and reports its end once. */
const doCommand = ({ commandId, name, argument }) => {
  const done = core[name](argument);
  tell({ type: "begun", commandId });
  done.then(
    () => tell({ type: "done", commandId }),
    ({ code }) => tell({ type: "done", commandId, code }),
  );
  if (name === "drain" || name === "close") void done.then(leave);
};

const leave = async () => {
  await audit.close();
  tell({ type: "closed", stats: core.stats() });
  if (process.connected) process.disconnect();
};

process.on("message", (message) => {
  if (message.type === "call") void makeCall(message);
  else if (message.type === "cancel") calls.get(message.requestId)?.cancel("no longer wanted");
  else doCommand(message);
});
// Without a parent there is nothing to do.
process.on("disconnect", () => void core.close());
tell({ type: "started", socketPath: core.socketPath });
for await (const agent of core.health()) tell({ type: "health", agent });
