import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type PreparedCall, type Tool, ToolError } from "@harnesskit/thread-server";
import { expect } from "vitest";
import { createWorkspaceTools, type WorkspaceToolsOptions } from "../../src/index.ts";

export type ToolName = "bash" | "read" | "write" | "edit" | "glob" | "grep";

export interface RunOptions {
  signal?: AbortSignal;
  log?: (stream: "stdout" | "stderr", text: string) => void;
}

/** A workspace in a temporary directory, with a neighbour that no tool may touch. */
export class Fixture {
  readonly base: string;
  readonly directory: string;
  readonly outside: string;
  readonly #tools: Tool[];

  private constructor(base: string, tools: Tool[]) {
    this.base = base;
    this.directory = join(base, "workspace");
    this.outside = join(base, "outside");
    this.#tools = tools;
  }

  static async create(options: WorkspaceToolsOptions = {}): Promise<Fixture> {
    const base = await realpath(await mkdtemp(join(tmpdir(), "workspace-agent-")));
    const fixture = new Fixture(base, createWorkspaceTools(options));
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

  tool(name: ToolName): Tool {
    const found = this.#tools.find((tool) => tool.name === name);
    if (found === undefined) throw new TypeError(`no tool ${name}`);
    return found;
  }

  prepare(name: ToolName, input: unknown): Promise<PreparedCall> {
    return this.tool(name).prepare(input, { threadId: "thread-1", directory: this.directory });
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

export function run(prepared: PreparedCall, options: RunOptions = {}) {
  return prepared.run({
    signal: options.signal ?? new AbortController().signal,
    log: options.log ?? (() => undefined),
  });
}

/** The `ToolError` a call fails with. Any other outcome fails the test. */
export async function failure(call: Promise<unknown>): Promise<ToolError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expect(outcome).toHaveProperty("error");
  const error = "error" in outcome ? outcome.error : undefined;
  expect(ToolError.isInstance(error), String(error)).toBe(true);
  return error as ToolError;
}

/** The code of the `ToolError` a call fails with. */
export const failureCode = async (call: Promise<unknown>): Promise<string> => (await failure(call)).code;
