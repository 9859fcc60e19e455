/** All counters of a new core, at zero. */
export const createStats = () => ({
  /** Connections taken, with those that were refused later. */
  connections: 0,
  /** Connections closed at once, because too many had not sent their hello. */
  refusedConnections: 0,
  /** Connections refused at or before their hello. */
  refusedHellos: 0,
  /** Sessions opened. */
  sessions: 0,
  /** Calls that were sent to agents. */
  callsSent: 0,
  /** Calls that ended, by how they ended; refused before they were sent included. */
  callsSucceeded: 0,
  callsFailed: 0,
  callsCanceled: 0,
  /** Calls that got the result of another call with their idempotency key. */
  callsJoined: 0,
  /** Results for calls that had ended without one: timed out, or cancelled and given up. */
  lateResults: 0,
  /** Second results for one call. */
  duplicateResults: 0,
  /** Results for calls that this agent was never given. */
  unknownResults: 0,
  /** Results for calls of another session. */
  foreignResults: 0,
  /** Stream chunks with a number that had come already, or below. */
  repeatedChunks: 0,
  /** Gaps in the numbers of stream chunks. */
  chunkGaps: 0,
  /** Stream chunks for calls that are unknown or over, or that followed `done`. */
  strayChunks: 0,
  /** Stream chunks dropped because their reader was slow or absent. */
  droppedChunks: 0,
  /** Messages and frames that are not valid in this protocol. */
  invalidMessages: 0,
  /** Messages of unknown types. */
  unknownTypes: 0,
  /** Tools that registrations brought in, and tools that were rejected. */
  toolsRegistered: 0,
  toolsRejected: 0,
  /** Times an agent became unhealthy because it missed heartbeats. */
  missedHeartbeats: 0,
  /** Audit entries that were left out because one agent caused too many. */
  suppressedAuditEntries: 0,
});

/** What a core has counted since it was made. */
export type CoreStats = ReturnType<typeof createStats>;
