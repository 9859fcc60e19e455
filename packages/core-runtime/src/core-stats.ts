/** All counters of a new core, at zero. */
export const createStats = () => ({
  /** Connections taken, with those that were refused later. */
  connections: 0,
  /** Connections closed at once, because too many had not sent their hello. */
  refusedConnections: 0,
  /** Sessions opened. */
  sessions: 0,
  /** Calls that were sent to agents. */
  callsSent: 0,
  /** Calls that ended, by how they ended; refused before they were sent included. */
  callsSucceeded: 0,
  callsFailed: 0,
  callsCanceled: 0,
  /** Results for calls that had ended without one: timed out, or cancelled and given up. */
  lateResults: 0,
  /** Results that no call of their session waits for. */
  unknownResults: 0,
  /** Stream chunks dropped because their reader was slow or absent. */
  droppedChunks: 0,
  /** Messages and frames that are not valid in this protocol. */
  invalidMessages: 0,
  /** Times an agent became unhealthy because it missed heartbeats. */
  missedHeartbeats: 0,
});

/** What a core has counted since it was made. */
export type CoreStats = ReturnType<typeof createStats>;
