/** What is called with, and echoed: about as large as the start of a turn. */
export const params = {
  threadId: "ses_0123456789abcdef0123456789abcdef",
  input: [{ type: "text", text: "Run the tests, then tell me which of them failed and why." }],
  model: { providerID: "anthropic", modelID: "claude-sonnet" },
  agent: "code",
};
