/** The lane of a turn: that of its session, or of its invocation where it has none. */
export const laneOf = (sessionId: string | null, invocationId: string): string =>
  sessionId === null ? `invocation:${invocationId}` : `session:${sessionId}`;
