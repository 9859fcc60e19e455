import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("agent.mjs", import.meta.url));

/** The place of one agent: its directory, its instructions, and what it recorded. */
export class Seat {
  id;
  directory;
  policy;

  constructor({ id, base }) {
    this.id = id;
    this.directory = join(base, id);
  }

  async make() {
    await mkdir(this.directory, { mode: 0o700 });
    await this.plan({});
  }

  /** How it is started again; counts from the next start of its core on. */
  async setPolicy(policy) {
    this.policy = policy;
    const restart = { policy, initial_backoff_ms: 10, max_backoff_ms: 40, max_burst: 100 };
    const command = [process.execPath, program];
    await this.#write("opensentience.agent.json", { id: this.id, version: "1.0.0", command, restart });
  }

  /** What the next process does on its way into service. */
  plan(plan) {
    return this.#write("plan.json", plan);
  }

  /** What the running process does at SIGUSR2. */
  setStrike(strike) {
    return writeFile(join(this.directory, "strike"), strike);
  }

  /** What its processes wrote down: `{ what, launchId, requestId }`. A torn line, of a process that was killed, is left out. */
  get journal() {
    const lines = this.#read("journal").split("\n");
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  }

  has(what, { requestId }) {
    return this.journal.some((line) => line.what === what && line.requestId === requestId);
  }

  /** How often a process of this agent was started. */
  get starts() {
    return this.journal.filter(({ what }) => what === "start").length;
  }

  #read(name) {
    try {
      return readFileSync(join(this.directory, name), "utf8");
    } catch {
      return "";
    }
  }

  async #write(name, value) {
    const path = join(this.directory, name);
    await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }
}
