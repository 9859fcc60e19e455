/** What a core has counted since it was made. */
export interface CoreStats {
  /** Connections taken, with those that were refused later. */
  connections: number;
  /** Connections closed at once, because too many had not said hello. */
  refusedConnections: number;
  /** Connections refused at or before their hello. */
  refusedHellos: number;
  /** Sessions opened. */
  sessions: number;
  /** Calls that were sent to agents. */
  callsSent: number;
  /** Calls that ended, by how they ended; refused before they were sent included. */
  callsSucceeded: number;
  callsFailed: number;
  callsCanceled: number;
  /** Calls that got the result of another call with their idempotency key. */
  callsJoined: number;
  /** Results for calls that had ended without one: timed out, or cancelled and given up. */
  lateResults: number;
  /** Second results for one call. */
  duplicateResults: number;
  /** Results for calls that this agent was never given. */
  unknownResults: number;
  /** Results for calls of another session. */
  foreignResults: number;
  /** Stream chunks with a number that had come already, or below. */
  repeatedChunks: number;
  /** Gaps in the numbers of stream chunks. */
  chunkGaps: number;
  /** Stream chunks for calls that are unknown or over, or that followed `done`. */
  strayChunks: number;
  /** Stream chunks dropped because their reader was slow or absent. */
  droppedChunks: number;
  /** Messages and frames that are none of this protocol. */
  invalidMessages: number;
  /** Messages of unknown types. */
  unknownTypes: number;
  /** Tools that registrations brought in, and tools that were rejected. */
  toolsRegistered: number;
  toolsRejected: number;
  /** Times an agent became unhealthy because it missed heartbeats. */
  missedHeartbeats: number;
  /** Audit entries that were left out because one agent caused too many. */
  suppressedAuditEntries: number;
}

/** All at zero. */
export const createStats = (): CoreStats => ({
  connections: 0,
  refusedConnections: 0,
  refusedHellos: 0,
  sessions: 0,
  callsSent: 0,
  callsSucceeded: 0,
  callsFailed: 0,
  callsCanceled: 0,
  callsJoined: 0,
  lateResults: 0,
  duplicateResults: 0,
  unknownResults: 0,
  foreignResults: 0,
  repeatedChunks: 0,
  chunkGaps: 0,
  strayChunks: 0,
  droppedChunks: 0,
  invalidMessages: 0,
  unknownTypes: 0,
  toolsRegistered: 0,
  toolsRejected: 0,
  missedHeartbeats: 0,
  suppressedAuditEntries: 0,
});
