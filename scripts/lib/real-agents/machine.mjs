import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHubClient } from "../../../packages/hub/dist/client.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";
import { repositoryRoot } from "../root.mjs";

export const harnessBin = join(repositoryRoot, "apps", "cli", "dist", "bin.cjs");

/** Looks twenty times a second, for at most `ms`; returns what was found, or undefined. */
export async function until(look, ms) {
  const end = performance.now() + ms;
  do {
    const found = await look();
    if (found) return found;
    await sleep(50);
  } while (performance.now() < end);
  return undefined;
}

/** The lines of a file; none where it is not there. */
const linesOf = (file) => {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
};

/** A user with a home, a policy, a hub and a project, where `leave.sh` leaves its words behind, in a directory of their own. */
export class Machine {
  /** `env` is what a program of this user starts with, beside its own places. */
  constructor(directory, { policy, env }) {
    this.home = join(directory, "home");
    this.project = join(directory, "project");
    for (const each of [join(this.home, "tmp"), join(this.project, "below")])
      mkdirSync(each, { recursive: true });
    this.policy = join(this.home, "policy.yaml");
    writeFileSync(this.policy, policy);
    this.log = join(this.project, "ran.log");
    const script = join(this.project, "leave.sh");
    writeFileSync(script, `#!/bin/sh\necho "$@" >> ${this.log}\n`);
    chmodSync(script, 0o755);
    this.env = { ...env, HOME: this.home, NO_COLOR: "1", TMPDIR: join(this.home, "tmp"), XDG_STATE_HOME: "" };
  }

  async startHub() {
    const { project: cwd, env } = this;
    const hub = spawn(process.execPath, [harnessBin, "hub", "--policy", this.policy], { cwd, env });
    let output = "";
    for (const stream of [hub.stdout, hub.stderr]) stream.on("data", (chunk) => (output += chunk));
    this.hub = hub;
    if (!(await until(() => output.includes("approvals: "), 60_000))) throw new Error(`no hub: ${output}`);
    const place = hubPlace({ state: join(this.home, ".local", "state", "harnesskit", "hub") });
    const transport = createUnixTransport({ path: place.apiSocket, framing: "newline" });
    this.client = createHubClient({ transport, client: { name: "real-agents" }, reconnect: false });
    await this.client.connect();
  }

  get isHubDown() {
    return this.hub === undefined || this.hub.exitCode !== null || this.hub.signalCode !== null;
  }

  async killHub() {
    await this.client?.close();
    if (this.isHubDown) return;
    const ended = once(this.hub, "exit");
    this.hub.kill("SIGKILL");
    await ended;
  }

  /** The questions that wait. */
  async pending() {
    return (await this.client.call("inbox.list", { status: "pending" })).records;
  }

  /** Answers each question that waits, until `signal` aborts. */
  async answerAll(decision, signal) {
    const note = decision === "reject" ? "the human says no" : undefined;
    while (!signal.aborted) {
      for (const { id, digest } of await this.pending())
        await this.client.call("inbox.answer", { id, digest, decision, note });
      await sleep(100);
    }
  }

  /** The timeline's rows of these types, from the oldest, in what the cells judge. */
  async rows(...types) {
    const { rows } = await this.client.call("timeline.page", { filter: {} });
    const found = rows.filter(({ type }) => types.includes(type)).reverse();
    const whole = await Promise.all(found.map(({ id }) => this.client.call("timeline.get", { id })));
    return whole.map(({ row, input, metadata }) => ({
      ...{ type: row.type, state: row.state, tool: row.tool, decision: row.decision?.decision },
      ...{ depth: row.depth ?? 0, workspace: metadata?.value?.workspace, command: input?.value?.command },
    }));
  }

  async records() {
    return (await this.client.call("inbox.list", {})).records;
  }

  /** What the script has left. */
  ran() {
    return linesOf(this.log);
  }
}
