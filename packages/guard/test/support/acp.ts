import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client as acpClient, type ClientContext, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import type { AhpClient } from "@harnesskit/ahp-client";
import { createChildTransport, createStdioChannel } from "@harnesskit/transport-stdio";
import { expect, onTestFinished, vi } from "vitest";
import { type AcpAskingRule, createAcpProxy, type EditPreview } from "../../src/acp/index.ts";
import { createActionJudge } from "../../src/proxy/action-judge.ts";
import type { ProxyLimits } from "../../src/proxy/limits.ts";
import { serveAgent } from "../fixtures/acp-agent.mjs";
import { type Decide, type TestHarness, testHarness } from "./test-harness.ts";

/** The agent of the fixture, as a program. */
export const agentProgram = [
  process.execPath,
  fileURLToPath(new URL("../fixtures/acp-agent.mjs", import.meta.url)),
];

const lines = { keepLines: true, maxFrameBytes: 1024 * 1024 };

/** The agent of the fixture, in this process. */
const agentHere = (about: object) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  serveAgent(about, input, output);
  return createStdioChannel({ input: output, output: input, watchParent: false, ...lines });
};

const startProgram = ([command = "", ...args]: readonly string[]) =>
  createChildTransport({ command, args, stderr: "ignore", ...lines }).connect();

export interface GuardedAgent extends TestHarness {
  /** The SDK's client, as an editor has it. */
  readonly editor: ClientContext;
  readonly session: string;
  /** The answer to `session/new`, or `error`. */
  readonly opened: any;
  /** What the editor was asked, and told, in order. */
  readonly asked: { readonly method: string; readonly params: any }[];
  readonly notes: string[];
  readonly ended: Promise<unknown>;
  /** The bytes that the editor received. */
  readonly received: () => string;
  /** Sends these bytes as they are. */
  readonly sendRaw: (text: string) => Promise<void>;
  /** The editor ends. */
  leave(): void;
  /** Has the agent do the steps, and returns what came of them. */
  run(...steps: object[]): Promise<any[]>;
}

const terminals = {
  [methods.client.terminal.create]: { terminalId: "t1" },
  [methods.client.terminal.waitForExit]: { exitCode: 3 },
  [methods.client.terminal.release]: {},
  [methods.client.fs.writeTextFile]: {},
  [methods.client.fs.readTextFile]: { content: "read" },
};

/** The agent of the fixture behind a proxy, with a harness in this process and the SDK's client before it. */
export const guardAgent = async (
  decide: Decide | undefined,
  options: {
    readonly limits?: Partial<ProxyLimits>;
    readonly prompts?: boolean;
    /** The option that the editor's user chooses. @default the first */
    readonly choose?: (options: any[]) => string | undefined;
    /** @default the fixture, in this process */
    readonly command?: readonly string[];
    /** What the fixture says of itself and of its sessions. */
    readonly agent?: object;
    readonly asking?: AcpAskingRule;
    /** The client of another harness, in the place of the one that decides with `decide`. */
    readonly ahp?: AhpClient;
    readonly previewOf?: EditPreview;
  } = {},
): Promise<GuardedAgent> => {
  const harness = testHarness(decide, options);
  const { ahp = harness.ahp } = options;
  const asked: GuardedAgent["asked"] = [];
  const notes: string[] = [];
  const { command } = options;
  const agent = command === undefined ? agentHere(options.agent ?? {}) : await startProgram(command);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const proxy = createAcpProxy({
    editor: createStdioChannel({ input, output, watchParent: false, ...lines }),
    agent,
    judge: createActionJudge({ client: ahp, awayMs: 200 }),
    previewOf: options.previewOf,
    asking: options.asking,
    limits: { progressAfterMs: 20, ...options.limits },
    onNote: (line) => notes.push(line),
  });
  const ended = proxy.run();
  const read = new PassThrough();
  let received = "";
  output.on("data", (chunk: Buffer) => {
    received += chunk.toString();
    read.write(chunk);
  });
  output.on("close", () => read.end());
  const app = acpClient({ name: "test" });
  const note = (method: string) => (ctx: { params: any }) => {
    asked.push({ method, params: ctx.params });
  };
  app.onRequest(methods.client.session.requestPermission, (ctx) => {
    note(methods.client.session.requestPermission)(ctx);
    const { options: offered } = ctx.params;
    const optionId = (options.choose ?? ((all) => all[0]?.optionId))(offered);
    return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
  });
  for (const [method, result] of Object.entries(terminals)) {
    app.onRequest(
      method as never,
      ((ctx: { params: any }) => {
        note(method)(ctx);
        return result;
      }) as never,
    );
  }
  app.onNotification(methods.client.session.update, note(methods.client.session.update));
  const stream = ndJsonStream(
    Writable.toWeb(input) as WritableStream<Uint8Array>,
    Readable.toWeb(read) as unknown as ReadableStream<Uint8Array>,
  );
  const { agent: editor } = app.connect(stream);
  onTestFinished(async () => {
    input.end();
    await ended;
  });
  await editor.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const opening = editor.request(methods.agent.session.new, { cwd: "/work/app", mcpServers: [] });
  const opened = await opening.catch((error: unknown) => ({ sessionId: "", error }));
  const { sessionId: session } = opened;
  return {
    ...harness,
    editor,
    session,
    opened,
    asked,
    notes,
    ended,
    received: () => received,
    // The SDK's stream would lose what it writes before this has drained.
    sendRaw: (text) => new Promise((resolve) => input.write(text, () => resolve())),
    leave: () => void input.end(),
    async run(...steps) {
      const chunks = () =>
        asked.filter(({ params }) => params.update?.sessionUpdate === "agent_message_chunk");
      const before = chunks().length;
      await editor.request(methods.agent.session.prompt, {
        sessionId: session,
        prompt: [{ type: "text", text: JSON.stringify(steps) }],
      });
      // The SDK handles a notification after the answer that came behind it.
      await vi.waitFor(() => expect(chunks().length).toBeGreaterThan(before));
      return JSON.parse(chunks().at(-1)?.params.update.content.text);
    },
  };
};
