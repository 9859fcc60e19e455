import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { killProcess } from "../../../../scripts/lib/test-kit.ts";
import { RunningCommand } from "./in-process.ts";
import { ProtocolClient } from "./protocol-client.ts";

export const faults = ["kill", "hang", "slow", "garble", "noise"] as const;
export type Fault = (typeof faults)[number];

/** How long a decision may take here. */
const timeoutMs = 1000;

/** What the agent is asked for: three calls, two of which leave a file behind. */
const promptOf = (run: number): string =>
  `write written-${run}.txt: ${run}, then run the command: echo made > made-${run}.txt, then read README.md`;

export interface ToolItem {
  readonly tool: string;
  readonly status: string;
  readonly code?: string;
  readonly error?: string;
}

/** What one run has left behind. */
export interface RunResult {
  /** `completed`, or the code of the turn's error. */
  readonly end: string;
  readonly error: string;
  readonly terminals: number;
  readonly items: readonly ToolItem[];
  /** The tools whose effect is on the disk. */
  readonly effects: readonly string[];
  /** The tools that the harness allowed, in time or too late. */
  readonly allowed: readonly { readonly tool_name: string; readonly isInTime: boolean }[];
}

export interface SeenEvent {
  readonly run: number;
  readonly type: string;
  readonly status?: string;
  readonly tool?: string;
}

const fixture = fileURLToPath(new URL("../fixtures/faulty-harness.mjs", import.meta.url));

const linesOf = async <Line>(file: string): Promise<Line[]> =>
  (await readFile(file, "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

const exists = (file: string): Promise<boolean> =>
  readFile(file).then(
    () => true,
    () => false,
  );

/** One `harness serve` whose harness is a process with faults, and the runs that it does. */
export class FaultyRuns {
  readonly #directory: string;
  readonly #workspace: string;
  readonly #program: RunningCommand;
  readonly #client: ProtocolClient;
  #run = 0;
  /** Numbers of what is done between runs, below 0. */
  #mended = 0;

  private constructor(directory: string, workspace: string, program: RunningCommand) {
    this.#directory = directory;
    this.#workspace = workspace;
    this.#program = program;
    this.#client = new ProtocolClient(program);
  }

  static async start(): Promise<FaultyRuns> {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "policy-faults-")));
    const workspace = join(directory, "workspace");
    await mkdir(workspace);
    await writeFile(join(workspace, "README.md"), "# Demo\n");
    await writeFile(join(directory, "control.json"), JSON.stringify({ run: 0 }));
    await writeFile(join(directory, "events.jsonl"), "");
    const endpoint = `stdio:"${process.execPath}" "${fixture}" "${directory}"`;
    const args = ["serve", "--ahp", endpoint, "--policy-timeout", String(timeoutMs / 1000)];
    const env = { XDG_STATE_HOME: join(directory, "state") };
    const program = new RunningCommand(args, { cwd: workspace, env });
    const runs = new FaultyRuns(directory, workspace, program);
    await runs.#served(0, 0);
    return runs;
  }

  /** The process of the harness that serves now. */
  async harnessPid(): Promise<number> {
    return Number(await readFile(this.#path("pid"), "utf8"));
  }

  /** What the harness was told in a run. */
  async events(run = this.#run): Promise<SeenEvent[]> {
    return (await linesOf<SeenEvent>(this.#path("events.jsonl"))).filter((event) => event.run === run);
  }

  /** Does one run, with the fault from its event `at` on, counted from 1; 0 is the handshake before it. */
  async run(fault?: Fault, at = 1): Promise<RunResult> {
    const run = ++this.#run;
    await this.#control({ run, at, slowMs: 2 * timeoutMs, ...(fault && { fault }) });
    if (at === 0) await this.#killHarness();
    const told = this.#client.messages.length;
    const threadId = await this.#client.createThread();
    const { result } = await this.#client.startTurn(threadId, promptOf(run));
    const { turnId } = result as { turnId: string };
    const since = () => this.#client.messages.slice(told);
    const isEnd = ({ method, params }: Pick<ProtocolClient["messages"][number], "method" | "params">) =>
      (method === "turn.completed" || method === "turn.error") && params?.turnId === turnId;
    // A question would be one that no policy asked.
    const approval = () => since().find(({ method }) => method === "approval.requested");
    await vi.waitFor(
      () => {
        if (!since().some(isEnd) && !approval()) throw new RangeError(`no end of run ${run}`);
      },
      { timeout: 30_000, interval: 30 },
    );
    const ends = since().filter(isEnd);
    const [end] = ends;
    const items = since()
      .filter(({ method }) => method === "item.completed")
      .map(({ params }) => params?.item as { type: string; data: ToolItem })
      .filter(({ type }) => type === "tool_exec");
    const isWritten = await exists(join(this.#workspace, `written-${run}.txt`));
    const isMade = await exists(join(this.#workspace, `made-${run}.txt`));
    const allowed = await linesOf<{ run: number; tool_name: string; isInTime: boolean }>(
      this.#path("allowed.jsonl"),
    );
    return {
      end: String(end?.params?.status ?? end?.params?.code ?? "asked"),
      error: String(end?.params?.error ?? ""),
      terminals: ends.length,
      items: items.map(({ data }) => data),
      effects: [...(isWritten ? ["write"] : []), ...(isMade ? ["bash"] : [])],
      allowed: allowed.filter((entry) => entry.run === run),
    };
  }

  /** Ends what the fault has left, and waits until a sound harness serves again. */
  async mend(): Promise<void> {
    const run = --this.#mended;
    await this.#control({ run, at: 1 });
    const before = (await this.#handshakes()).length;
    await this.#killHarness();
    await this.#served(run, before);
  }

  async close(): Promise<void> {
    this.#program.kill("SIGTERM");
    await this.#program.ended;
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Ends the server as its client would, and gives its exit code. */
  async end(): Promise<number | null> {
    this.#program.endInput();
    return (await this.#program.ended).code;
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #control(how: object): Promise<void> {
    return writeFile(this.#path("control.json"), JSON.stringify(how));
  }

  #handshakes(): Promise<object[]> {
    return linesOf(this.#path("handshakes.jsonl"));
  }

  async #killHarness(): Promise<void> {
    try {
      killProcess(await this.harnessPid());
    } catch {
      // It is dead already.
    }
  }

  /** A prompt that is judged shows that the server has a harness. */
  async #served(run: number, handshakes: number): Promise<void> {
    await vi.waitFor(
      async () => {
        if ((await this.#handshakes()).length <= handshakes) throw new RangeError("no handshake yet");
      },
      { timeout: 30_000, interval: 50 },
    );
    await vi.waitFor(
      async () => {
        const threadId = await this.#client.createThread();
        const { result } = await this.#client.startTurn(threadId, "hello");
        const { turnId } = result as { turnId: string };
        await vi.waitFor(() => {
          const end = this.#client.messages.find(({ params }) => params?.turnId === turnId && params?.turn);
          if (!end) throw new RangeError("it goes on");
        });
        const failed = this.#client.messages.find(
          ({ method, params }) => method === "turn.error" && params?.turnId === turnId,
        );
        if (failed) throw new RangeError("not judged yet");
      },
      { timeout: 30_000, interval: 100 },
    );
    // Its last report is not one of the next run's.
    await vi.waitFor(
      async () => {
        if ((await this.events(run)).at(-1)?.status !== "completed") throw new RangeError("not told yet");
      },
      { timeout: 30_000, interval: 30 },
    );
  }
}
