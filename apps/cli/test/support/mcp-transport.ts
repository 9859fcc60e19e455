import { createInterface } from "node:readline";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { startHarness } from "./in-process.ts";

/** What a client of the SDK speaks on with `harness guard mcp`, which runs in this process. */
export const startMcpGuard = (
  words: readonly string[],
  place: { readonly cwd: string; readonly env: Record<string, string> },
) => {
  const program = startHarness(["guard", "mcp", ...words], place);
  const transport: Transport = {
    async start() {
      createInterface({ input: program.output }).on("line", (line) =>
        transport.onmessage?.(JSON.parse(line) as JSONRPCMessage),
      );
      void program.ended.then(() => transport.onclose?.());
    },
    send: async (message) => program.write(`${JSON.stringify(message)}\n`),
    async close() {
      program.endInput();
      await program.ended;
    },
  };
  return { program, transport };
};
