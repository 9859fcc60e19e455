import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApprovalRecord } from "@harnesskit/approvals";
import {
  type ModelScript,
  type ProgramEnd,
  runnableHosts,
  runProgram,
  startScriptedModel,
} from "@harnesskit/guard/doctor";
import type { HubClient } from "@harnesskit/hub/client";
import { type HubPlace, hubPlace } from "@harnesskit/hub/place";
import { onTestFinished } from "vitest";
import { eventually, makeWorkspace, type Running, type Start } from "./harness.ts";
import { clientOf } from "./hub.ts";
import { harness, startHarness } from "./in-process.ts";

/** A script that leaves a line each time it runs. */
const note = (name: string): string => `#!/bin/sh\necho "$@" >> ${name}\n`;

/** A user's home and project, a hub, and the settings of an agent of another vendor, made by `harness guard init`. */
export class GuardedMachine {
  readonly home: string;
  readonly project: string;
  readonly place: HubPlace;
  #policy = "default";

  private constructor(directory: string) {
    this.home = join(directory, "home");
    this.project = join(directory, "project");
    this.place = hubPlace({ state: join(this.home, ".local", "state", "harnesskit", "hub") });
  }

  static async create(policy?: string): Promise<GuardedMachine> {
    const machine = new GuardedMachine(await makeWorkspace());
    await mkdir(join(machine.home, "tmp"), { recursive: true });
    await mkdir(machine.project);
    for (const name of ["publish", "note"]) {
      const path = join(machine.project, `${name}.sh`);
      await writeFile(path, note(join(machine.project, `${name}.log`)));
      await chmod(path, 0o755);
    }
    if (policy !== undefined) {
      machine.#policy = join(machine.home, "policy.yaml");
      await writeFile(machine.#policy, policy);
    }
    return machine;
  }

  /** The environment in which this user calls programs. Its own TMPDIR: this clone may lie in the system's, which does not stay. */
  get env(): Record<string, string> {
    return { HOME: this.home, XDG_STATE_HOME: "", NO_COLOR: "1", TMPDIR: join(this.home, "tmp") };
  }

  harness(...args: string[]) {
    return harness(args, { cwd: this.project, env: this.env });
  }

  /** Starts the hub, and waits until hooks are answered. */
  async startHub(start: Start = startHarness): Promise<Running> {
    const hub = start(["hub", "--policy", this.#policy], { cwd: this.project, env: this.env });
    await hub.reports(/approvals: /);
    return hub;
  }

  /** A client of the hub's API. */
  client(): Promise<HubClient> {
    return clientOf(this.place);
  }

  /** The one question that waits, when it is there. */
  async pending(client: HubClient): Promise<ApprovalRecord> {
    return eventually(async () => {
      const { records } = await client.call("inbox.list", { status: "pending" });
      const [record] = records;
      if (!record) throw new RangeError("nothing waits");
      return record;
    });
  }

  /** The lines that a script has left. */
  async lines(name: "publish" | "note"): Promise<readonly string[]> {
    const text = await readFile(join(this.project, `${name}.log`), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Runs an agent with its hooks, against a model that does what the script says. */
  async run(
    id: string,
    program: string,
    script: ModelScript,
    options: { readonly wait?: string } = {},
  ): Promise<ProgramEnd & { readonly outputs: readonly string[] }> {
    const host = runnableHosts.find((one) => one.id === id);
    if (!host) throw new TypeError(`no runnable host ${id}`);
    const model = await startScriptedModel(script);
    onTestFinished(() => model.close());
    const { home, project } = this;
    const parts = { home, project, modelUrl: model.url, hooks: undefined, isTrusted: true, prompt: "go on" };
    const { args, env } = await host.prepare(parts);
    const wait = options.wait === undefined ? [] : ["--wait", options.wait];
    const init = await this.harness("guard", "init", "--agent", id, "--yes", ...wait);
    if (init.code !== 0) throw new TypeError(init.stderr);
    const end = await runProgram({ program, args, env, cwd: project, timeoutMs: 120_000 });
    return { ...end, outputs: model.outputs };
  }
}
