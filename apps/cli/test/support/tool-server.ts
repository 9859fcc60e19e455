import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { eventually, makeWorkspace, noPolicyNotice, RunningProgram, type Start } from "./harness.ts";
import { startHarness } from "./in-process.ts";
import { ProtocolClient } from "./protocol-client.ts";

export interface ToolItem {
  readonly itemId: string;
  readonly type: string;
  readonly data: Record<string, unknown> & { readonly tool?: string; readonly status?: string };
}

const makeDirectory = async (prefix: string): Promise<string> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), prefix)));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

export interface ToolServerOptions {
  readonly workspace?: string;
  readonly args?: readonly string[];
  /** The file of a policy. @default none is in force */
  readonly policy?: string;
  readonly env?: Record<string, string>;
  /** @default in this process, whose directory for temporary files is another one */
  readonly start?: Start;
}

/** `harness serve` without a policy, with a directory for temporary files and a state of its own, and a client that uses its tools. */
export class ToolServer {
  private constructor(
    readonly workspace: string,
    /** Where the core's socket and all else that is temporary is made. */
    readonly temporary: string,
    readonly state: string,
    readonly client: ProtocolClient,
  ) {}

  static async start(options: ToolServerOptions = {}): Promise<ToolServer> {
    const { workspace, args = [], policy, env = {}, start = startHarness } = options;
    const judged = policy === undefined ? ["--no-policy"] : ["--policy", policy];
    const cwd = workspace ?? (await makeWorkspace());
    const temporary = await makeDirectory("hk-");
    const state = env.XDG_STATE_HOME ?? (await makeDirectory("hk-state-"));
    const environment = { TMPDIR: temporary, XDG_STATE_HOME: state, ...env };
    const program = start(["serve", ...judged, ...args], { cwd, env: environment });
    return new ToolServer(cwd, temporary, state, new ProtocolClient(program));
  }

  get program() {
    return this.client.program;
  }

  /** What it has said on standard error, beside that it has no policy. */
  get complaints(): string {
    return this.program.stderr.replace(noPolicyNotice, "");
  }

  get auditFile(): string {
    return join(this.state, "harnesskit", "audit", "serve.jsonl");
  }

  path(name: string): string {
    return join(this.workspace, name);
  }

  /** What has been told of one kind so far, its parameters. */
  told(method: string): Record<string, unknown>[] {
    return this.client.messages.flatMap((message) =>
      message.method === method && message.params ? [message.params] : [],
    );
  }

  /** The completed items of a type so far. */
  items(type: string): ToolItem[] {
    return this.told("item.completed")
      .map(({ item }) => item as ToolItem)
      .filter((item) => item.type === type);
  }

  until<Found>(find: () => Found | undefined | false): Promise<Found> {
    return eventually(() => {
      const found = find();
      if (found === undefined || found === false) {
        throw new RangeError(`not yet: ${this.program.stdout.slice(-2000)}\n${this.program.stderr}`);
      }
      return found as Found;
    });
  }

  /** Starts a turn, in a thread of its own unless one is given. */
  async startTurn(text: string, threadId?: string): Promise<{ threadId: string; turnId: string }> {
    const thread = threadId ?? (await this.client.createThread());
    const { result, error } = await this.client.startTurn(thread, text);
    if (result === undefined) throw new RangeError(`no turn: ${JSON.stringify(error)}`);
    return { threadId: thread, turnId: (result as { turnId: string }).turnId };
  }

  /** The question with this number, counted from 0, when it is there. */
  question(number = 0): Promise<{ requestId: string; metadata: Record<string, unknown> }> {
    return this.until(
      () =>
        this.told("approval.requested")[number] as { requestId: string; metadata: Record<string, unknown> },
    );
  }

  async answer(number = 0, decision: "once" | "reject" = "once"): Promise<void> {
    const { requestId } = await this.question(number);
    await this.client.call("approval.respond", { requestId, decision });
  }

  /** The end of a turn: the name of its last notification, and that. */
  turnEnd(turnId: string): Promise<Record<string, unknown>> {
    return this.until(() =>
      [...this.told("turn.completed"), ...this.told("turn.error")].find((params) => params.turnId === turnId),
    );
  }

  /** Runs a command to the end of its turn, approved. */
  async runCommand(command: string, threadId?: string): Promise<ToolItem> {
    const { turnId } = await this.startTurn(`run the command: ${command}`, threadId);
    const { requestId } = await this.until(() =>
      this.told("approval.requested").find((params) => params.turnId === turnId),
    );
    await this.client.call("approval.respond", { requestId, decision: "once" });
    await this.turnEnd(turnId);
    return this.items("tool_exec").at(-1) as ToolItem;
  }

  /** The process id of the agent that runs. */
  async agentPid(): Promise<number> {
    const { program } = this;
    const parent = program instanceof RunningProgram ? program.child.pid : process.pid;
    const pids = await eventually(async () => {
      const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid=,stat=,args="]);
      const found = stdout
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter(
          ([, ppid, stat, , file]) =>
            Number(ppid) === parent && file?.endsWith("dist/agent.cjs") && !stat?.startsWith("Z"),
        );
      if (found.length !== 1) throw new RangeError(`${found.length} agents: ${this.program.stderr}`);
      return found;
    });
    return Number(pids[0]?.[0]);
  }

  /** The content of a file, when it has a whole line. */
  line(name: string): Promise<string> {
    return eventually(async () => {
      const text = await readFile(this.path(name), "utf8");
      if (!text.endsWith("\n")) throw new RangeError("not whole");
      return text.trim();
    });
  }

  /** What lies in the directory for temporary files. */
  leftBehind(): Promise<string[]> {
    return readdir(this.temporary);
  }
}
