import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Agent, ToolError } from "@harnesskit/agent-sdk";
import { expect } from "vitest";
import type { Prepared } from "../../src/declarations.ts";
import { createWorkspaceAgent, type WorkspaceAgentOptions } from "../../src/index.ts";

export type ToolName =
  | "bash"
  | "read"
  | "write"
  | "edit"
  | "glob"
  | "grep"
  | "commands"
  | "command_input"
  | "command_stop";

export interface RunOptions {
  signal?: AbortSignal;
  log?: (stream: "stdout" | "stderr", text: string) => void;
}

/** A call as `prepare` returned it, with what it takes to make it. */
export interface PreparedCall extends Prepared {
  readonly name: ToolName;
  readonly directory: string;
  readonly agent: Agent;
}

/** What a call had produced when it failed. */
const outputs = new WeakMap<object, unknown>();

/** A workspace in a temporary directory, with a neighbour that no tool may touch. */
export class Fixture {
  readonly base: string;
  readonly directory: string;
  readonly outside: string;
  readonly agent: Agent;

  private constructor(base: string, agent: Agent) {
    this.base = base;
    this.directory = join(base, "workspace");
    this.outside = join(base, "outside");
    this.agent = agent;
  }

  static async create(options: WorkspaceAgentOptions = {}): Promise<Fixture> {
    const base = await realpath(await mkdtemp(join(tmpdir(), "workspace-agent-")));
    const fixture = new Fixture(base, createWorkspaceAgent(options));
    await mkdir(fixture.directory);
    await mkdir(fixture.outside);
    await writeFile(join(fixture.outside, "secret.txt"), "secret\n");
    return fixture;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.base, { recursive: true, force: true });
  }

  path(relative: string): string {
    return join(this.directory, relative);
  }

  async put(relative: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.path(relative)), { recursive: true });
    await writeFile(this.path(relative), content);
  }

  async link(relative: string, target: string): Promise<void> {
    await mkdir(dirname(this.path(relative)), { recursive: true });
    await symlink(target, this.path(relative));
  }

  async text(relative: string): Promise<string> {
    return readFile(this.path(relative), "utf8");
  }

  async prepare(name: ToolName, input: unknown, directory = this.directory): Promise<PreparedCall> {
    const call = { tool: name, input };
    const output = await this.agent.call("prepare", call, { context: { project_root: directory } });
    return { ...(output as Prepared), name, directory, agent: this.agent };
  }

  async call(name: ToolName, input: unknown, options: RunOptions = {}) {
    return run(await this.prepare(name, input), options);
  }

  /** Everything in a directory, with contents: equal before and after if nothing was changed. */
  async listing(directory = this.directory): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(directory.length + 1)] = entry.isFile() ? await readFile(path, "utf8") : "(no file)";
    }
    return found;
  }
}

/** Makes a prepared call. */
export async function run(prepared: PreparedCall, options: RunOptions = {}) {
  const { agent, name, input, expected, directory } = prepared;
  let partial: unknown;
  const call = agent.call(
    name,
    { ...input, expected },
    {
      context: { project_root: directory },
      onStream: ({ channel, data }) => {
        if (channel === "partial_result") partial = data.json;
        else if (channel === "stdout" || channel === "stderr") options.log?.(channel, data.text);
      },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
  );
  return call.catch((error: unknown) => {
    if (ToolError.isInstance(error)) outputs.set(error, partial);
    throw error;
  });
}

/** The `ToolError` a call fails with, and what it had produced. Any other outcome fails the test. */
export async function failure(
  call: Promise<unknown>,
): Promise<{ code: string; message: string; output: unknown }> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expect(outcome).toHaveProperty("error");
  const error = "error" in outcome ? outcome.error : undefined;
  if (!ToolError.isInstance(error)) throw new TypeError(`no ToolError: ${String(error)}`);
  return { code: error.code, message: error.message, output: outputs.get(error) };
}

/** The code of the `ToolError` a call fails with. */
export const failureCode = async (call: Promise<unknown>): Promise<string> => (await failure(call)).code;
