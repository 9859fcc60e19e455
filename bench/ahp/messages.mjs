/** What an agent asks before it runs a command. */
export const action = {
  tool_name: "bash",
  arguments: { command: "npm test -- --reporter dot", timeout_ms: 120_000 },
  action_type: "tool_call",
};

/** The event around it, as a client sends it. */
const eventOf = (payload) => ({
  event_type: "pre_action",
  session_id: "ses_0a1b2c3d4e5f",
  agent_id: "agent_0a1b2c3d4e5f",
  timestamp: new Date().toISOString(),
  depth: 0,
  payload,
});

export const requestOf = (id, payload) => ({
  jsonrpc: "2.0",
  id,
  method: "ahp/event",
  params: eventOf(payload),
});

/** What the echo answers. */
export const answerTo = ({ id }) => ({ jsonrpc: "2.0", id, result: { decision: "allow" } });
