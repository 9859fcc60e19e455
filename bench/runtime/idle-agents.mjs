// Many agents in one process, each with a connection of its own; their tokens come over IPC.
import { defineAgent, tool } from "@harnesskit/agent-sdk";
import { createUnixTransport } from "@harnesskit/transport-uds";

process.on("message", async ({ path, agents }) => {
  const transport = createUnixTransport({ path });
  for (const { id, token } of agents) {
    const echo = tool({
      name: "echo",
      description: "Echoes",
      effects: "read",
      input: { type: "object" },
      run: (input) => input,
    });
    defineAgent({ id, version: "1.0.0", tools: [echo] }).connect(await transport.connect(), { token });
  }
});
