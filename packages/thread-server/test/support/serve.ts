import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../../../../test-kit/test-kit.ts";
import { createThreadServer, type ThreadServer, type ThreadServerOptions } from "../../src/index.ts";
import { createFileThreadStore } from "../../src/node/index.ts";
import { RawClient } from "./raw-client.ts";
import { callingRunner, recordingTool } from "./tools.ts";

/** A directory of the test, removed after what was opened in it later is closed. */
export const ownDirectory = async (): Promise<string> => {
  const dir = await temporaryDirectory();
  onTestFinished(() => dir[Symbol.asyncDispose]());
  return dir.path;
};

/** A server that is closed when the test has ended. */
export const openServer = (options: ThreadServerOptions): ThreadServer => {
  const server = createThreadServer(options);
  onTestFinished(() => server.close());
  return server;
};

export interface ServeOptions extends Partial<ThreadServerOptions> {
  /** Keeps the threads in files here, whoever had them before. @default in memory */
  readonly root?: string;
  /** The key of the user. @default in `root` */
  readonly key?: string;
  /** What the agent calls its tool `bash` with, once in each turn. */
  readonly input?: unknown;
}

/** A server with an agent that calls a tool which asks, and a client. The server is closed when the test has ended. */
export const serve = ({
  root,
  key = root && join(root, "key"),
  input = { command: "ls" },
  ...options
}: ServeOptions = {}) => {
  const tool = recordingTool("bash", "execute");
  const errors: unknown[] = [];
  const server = openServer({
    runner: callingRunner({ tool: "bash", input }),
    tools: [tool],
    store: root ? createFileThreadStore({ root, grantKeyPath: key, isOwnerDead: () => true }) : undefined,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { server, tool, errors, client: RawClient.connect(server) };
};

/** Tried again where a file that the server replaces at that moment was met under its temporary name. */
export const copied = async (from: string, to: string): Promise<string> => {
  await vi.waitFor(() => cp(from, to, { recursive: true }));
  return to;
};

/** What a server leaves that is killed while its turn waits for an answer: a copy of its directory, its lock included. */
export const killedWhileWaiting = async (dir: string, options: ServeOptions = {}) => {
  const { server, client } = serve({ root: join(dir, "first"), ...options });
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  const { params } = await client.notification("approval.requested");
  const left = await copied(join(dir, "first"), join(dir, "left"));
  await server.close();
  return { threadId, turnId: result.turnId as string, requestId: params.requestId as string, left };
};

/** Changes what a log says of the answers that were given. */
export const changeAnswers = async (log: string, change: (line: string) => string): Promise<void> => {
  const lines = (await readFile(log, "utf8")).split("\n");
  const isAnswer = (line: string) => line.includes('"type":"item.completed"') && line.includes('"approval"');
  const changed = lines.map((line) => (isAnswer(line) ? change(line) : line));
  expect(changed).not.toEqual(lines);
  await writeFile(log, changed.join("\n"));
};
