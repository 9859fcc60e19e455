import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHubClient } from "../../../packages/hub/dist/client.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createUnixTransport } from "../../../packages/transport-uds/dist/index.js";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";

const bin = join(repositoryRoot, "apps", "cli", "dist", "bin.cjs");
const recorder = join(repositoryRoot, "scripts", "lib", "real-hosts", "record-hook.mjs");

/** Looks twenty times a second, for at most `ms`; returns what was found, or undefined. */
async function until(look, ms) {
  const end = performance.now() + ms;
  do {
    const found = await look();
    if (found) return found;
    await sleep(50);
  } while (performance.now() < end);
  return undefined;
}

/** A user with a home, a project, a policy and a hub, in a directory of their own. */
export class Machine {
  constructor(directory, path, policy) {
    this.home = join(directory, "home");
    this.project = join(directory, "project");
    this.hooks = join(directory, "hooks.jsonl");
    for (const each of [this.home, join(this.home, "tmp"), join(this.project, "below")])
      mkdirSync(each, { recursive: true });
    // Copilot CLI runs its hooks at the root of the repository, which another program may have begun further up.
    execFileSync("git", ["init", "--quiet"], { cwd: this.project });
    this.policy = join(this.home, "policy.yaml");
    writeFileSync(this.policy, policy);
    writeFileSync(
      join(this.project, "leave.sh"),
      `#!/bin/sh\necho "$@" >> ${join(this.project, "ran.log")}\n`,
    );
    chmodSync(join(this.project, "leave.sh"), 0o755);
    this.place = hubPlace({ state: join(this.home, ".local", "state", "harnesskit", "hub") });
    this.env = {
      PATH: path,
      HOME: this.home,
      NO_COLOR: "1",
      TMPDIR: join(this.home, "tmp"),
      XDG_STATE_HOME: "",
    };
  }

  harness(...args) {
    return run(process.execPath, [bin, ...args], { cwd: this.project, env: this.env });
  }

  /** Puts a host under the guard, with a program that records what the host says and then starts the hook's own. */
  async guard(id) {
    const command = `${process.execPath} ${recorder} ${this.hooks}`;
    const { code, output } = await this.harness(
      "guard",
      "init",
      "--agent",
      id,
      "--yes",
      "--command",
      command,
    );
    if (code !== 0) throw new Error(`harness guard init failed: ${output.trim()}`);
  }

  async startHub() {
    const env = { ...process.env, ...this.env };
    const hub = spawn(process.execPath, [bin, "hub", "--policy", this.policy], { cwd: this.project, env });
    let output = "";
    for (const stream of [hub.stdout, hub.stderr]) stream.on("data", (chunk) => (output += chunk));
    this.hub = hub;
    if (!(await until(() => output.includes("approvals: "), 30_000))) throw new Error(`no hub: ${output}`);
    const transport = createUnixTransport({ path: this.place.apiSocket, framing: "newline" });
    this.client = createHubClient({ transport, client: { name: "real-hosts" }, reconnect: false });
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

  /** Answers each question that waits, until `signal` aborts. Returns the records as they were asked. */
  async answerAll(decision, signal) {
    const answered = [];
    while (!signal.aborted) {
      const { records } = await this.client.call("inbox.list", { status: "pending" });
      for (const record of records) {
        const { id, digest } = record;
        answered.push(record);
        const reason = decision === "reject" ? { reason: "the human says no" } : {};
        await this.client.call("inbox.answer", { id, digest, decision, ...reason });
      }
      await sleep(100);
    }
    return answered;
  }

  /** The timeline's rows of actions, from the oldest. */
  async actions() {
    const { rows } = await this.client.call("timeline.page", { filter: {} });
    const found = rows.filter(({ type }) => type === "pre_action").reverse();
    return Promise.all(found.map(({ id }) => this.client.call("timeline.get", { id })));
  }

  /** What the scripts have left. */
  ran() {
    try {
      return readFileSync(join(this.project, "ran.log"), "utf8").split("\n").filter(Boolean);
    } catch {
      return [];
    }
  }

  /** What the host has said to its hooks, in order. */
  said() {
    try {
      return readFileSync(this.hooks, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  }
}
