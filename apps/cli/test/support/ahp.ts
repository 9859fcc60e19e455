import { createConnection } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { onTestFinished } from "vitest";
import { openAhpEndpoint } from "../../src/ahp/endpoint.ts";
import type { AccessOptions } from "../../src/ahp/token.ts";
import { type HarnessEnd, makeWorkspace, type Running, type Start } from "./harness.ts";
import { harness, startHarness } from "./in-process.ts";

/** A `harness ahp serve` that is ready. */
export interface AhpServed {
  readonly cwd: string;
  readonly program: Running;
  /** `unix:…`, `http://…` and `ws://…`, in this order. */
  readonly endpoints: readonly string[];
  readonly tokenFile: string | undefined;
}

/** Where the state of a test's user lies. */
export const stateOf = (cwd: string): string => join(cwd, "state");

const environment = (cwd: string) => ({ XDG_STATE_HOME: stateOf(cwd), XDG_RUNTIME_DIR: cwd });

/** Runs a command about policies to its end in this process: files that it is named stand in the directory, and are shown by their names. */
export const ahp = async (args: readonly string[], cwd: string, input = ""): Promise<HarnessEnd> => {
  const env = environment(cwd);
  const { stdout, stderr, ...end } = await harness(["ahp", ...args], { cwd, env, input });
  const byName = (text: string) => text.replaceAll(`${cwd}/`, "");
  return { ...end, stdout: byName(stdout), stderr: byName(stderr) };
};

/** Starts a harness, and waits until it has said where it listens. */
export const serveAhp = async (
  args: readonly string[],
  given?: string,
  start: Start = startHarness,
): Promise<AhpServed> => {
  const cwd = given ?? (await makeWorkspace());
  const program = start(["ahp", "serve", ...args], { cwd, env: environment(cwd) });
  const places = ["--unix", "--http", "--stdio"];
  const count = places.filter((place) => args.includes(place)).length + (args.includes("--http") ? 1 : 0);
  await program.reports(new RegExp(`(listening on [^]*){${count}}\\n`));
  const endpoints = [...program.stderr.matchAll(/listening on (\S+:\S+)\n/g)].map(([, found = ""]) => found);
  return { cwd, program, endpoints, tokenFile: /token in (.+)\n/.exec(program.stderr)?.[1] };
};

export interface Reply {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data: { readonly reason: string };
  };
}

export const who = { session_id: "session-1", agent_id: "agent-1" };

export const handshake = (id = "h", version = "2.4") => ({
  jsonrpc: "2.0",
  id,
  method: "ahp/handshake",
  params: {
    ...who,
    protocol_version: version,
    agent_info: { framework: "test", version: "1", capabilities: [] },
  },
});

/** The params of an event; a blocking one with an id is a request. */
export const event = (type: string, payload: unknown = {}, id?: string) => ({
  jsonrpc: "2.0",
  ...(id === undefined ? {} : { id }),
  method: "ahp/event",
  params: { ...who, event_type: type, timestamp: "2026-01-01T00:00:00Z", depth: 0, payload },
});

/** Lines out, lines in. */
export class LineAgent {
  readonly #write: (text: string) => void;
  readonly #lines: AsyncIterator<string>;

  private constructor(input: NodeJS.ReadableStream, write: (text: string) => void) {
    this.#write = write;
    this.#lines = createInterface({ input })[Symbol.asyncIterator]();
  }

  static ofProgram(program: Running): LineAgent {
    return new LineAgent(program.output, (text) => program.write(text));
  }

  static ofSocket(path: string): LineAgent {
    const socket = createConnection(path);
    onTestFinished(() => void socket.destroy());
    return new LineAgent(socket, (text) => void socket.write(text));
  }

  tell(message: object | string): void {
    this.#write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  async ask(message: object | string): Promise<Reply> {
    this.tell(message);
    const { value, done } = await this.#lines.next();
    if (done) throw new RangeError("the harness closed");
    return JSON.parse(value) as Reply;
  }
}

/** Lets an agent of the session in `who` use the harness at an endpoint, as `--ahp` names it, and closes it. Rejects as the handshake does. */
export const withHarness = async <T>(
  to: string,
  access: AccessOptions,
  use: (client: AhpClient) => Promise<T>,
): Promise<T> => {
  const { endpoint, close } = await openAhpEndpoint(to, access);
  const agent = { framework: "test", version: "1", agentId: who.agent_id, sessionId: who.session_id };
  const client = createAhpClient({ ...endpoint, ...agent, reconnect: false });
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.close();
    close();
  }
};

/** One POST of a message, with a bearer token where there is one. */
export const post = (url: string, message: object, token?: string): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(message),
  });
