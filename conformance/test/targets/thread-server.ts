import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  createThreadServer,
  type ThreadServer,
  type TurnContext,
  type TurnRunner,
  tool,
} from "@harnesskit/thread-server";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import { type Channel, ProtocolError } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";

type Step = Readonly<Record<string, unknown>>;

const bashIn = (cwd: string) =>
  tool({
    name: "bash",
    description: "Runs its command",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    effects: "execute",
    async run({ command }, { stdout, stderr, signal }) {
      // In a group of its own, which ends with the turn.
      const child = spawn("sh", ["-c", String(command)], {
        cwd,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const end = (): void => void process.kill(-Number(child.pid), "SIGKILL");
      signal.addEventListener("abort", end, { once: true });
      const [code, printed, complained] = await Promise.all([
        once(child, "close").then(([exitCode]) => exitCode as number | null),
        text(child.stdout),
        text(child.stderr),
      ]);
      signal.removeEventListener("abort", end);
      if (printed) await stdout(printed);
      if (complained) await stderr(complained);
      if (code !== 0) throw new Error(`the command exited with code ${code}`);
      return { exitCode: 0 };
    },
  });

const say = async (turn: TurnContext, text: string, options = {}): Promise<void> => {
  const message = turn.message(options);
  for (const part of text.split(/(?<= )/)) message.append(part);
  await message.complete();
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

const doStep = async (turn: TurnContext, step: Step): Promise<void> => {
  if (typeof step.say === "string") await say(turn, step.say);
  if (typeof step.think === "string") await say(turn, step.think, { reasoning: true });
  if (step.who === true)
    await say(turn, `${turn.model?.providerID}/${turn.model?.modelID} ${turn.agent.name}`);
  if (typeof step.run === "string")
    await turn.callTool({ callId: "call", tool: "bash", input: { command: step.run } });
  if (typeof step.artifact === "string")
    await turn.artifact({ kind: "file", path: step.artifact, mimeType: "text/plain", sizeBytes: 3 });
  if (typeof step.fail === "string") throw new Error(step.fail);
  if (step.wait === true) await aborted(turn.signal);
};

/** The test agent of the suite: its prompt says what it does. A turn that is resumed goes on behind its calls. */
const runner: TurnRunner = {
  accept({ model }) {
    if (model !== undefined && model.providerID !== "offline")
      throw new ProtocolError(-32602, "unknown model");
  },
  async run(turn) {
    const [part] = turn.input;
    const { conformance } = JSON.parse(part?.type === "text" ? part.text : "{}") as { conformance: Step[] };
    const isDone = (step: Step) =>
      turn.history.some(
        ({ turnId, data }) =>
          turnId === turn.turn.turnId &&
          "run" in step &&
          (data as { input?: { command?: unknown } } | undefined)?.input?.command === step.run,
      );
    const resumed = conformance.findIndex(isDone);
    for (const step of conformance.slice(resumed + 1)) await doStep(turn, step);
  },
};

/** A thread server with the test agent, its files below `directory`. */
export const createTestThreadServer = (directory: string): ThreadServer =>
  createThreadServer({
    runner,
    tools: [bashIn(directory)],
    store: createFileThreadStore({ root: join(directory, ".harness") }),
    resolveDirectory: createDirectoryResolver(directory),
  });

/** Serves it at a place of the suite. */
export const startThreadServer: StartModule = async ({ endpoint, token, directory }) => {
  const server = createTestThreadServer(directory);
  const connect = (channel: Channel<object>) => void server.connect(channel);
  if (endpoint.startsWith("unix:")) {
    const listener = createUnixListener({ path: endpoint.slice(5) });
    await listener.listen(connect);
    return { close: async () => void (await Promise.all([server.close(), listener.close()])) };
  }
  const http = createHttpServer({ port: Number(new URL(endpoint).port), token });
  await http.webSocketListener({ path: "/threads" }).listen(connect);
  await http.listen();
  return { close: async () => void (await Promise.all([server.close(), http.close()])) };
};
