import type { AgentPhase, Supervision, SupervisionContext } from "./supervision.ts";

/** Into another phase: what belonged to the one before is forgotten unless it is said again. */
export const enterPhase = (
  state: Supervision,
  phase: AgentPhase,
  { nowMs }: SupervisionContext,
  change: Partial<Supervision> = {},
): Supervision => ({
  ...state,
  sinceMs: phase === state.phase ? state.sinceMs : nowMs,
  deadlineMs: undefined,
  reason: undefined,
  ...change,
  phase,
});
