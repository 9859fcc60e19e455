import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentManifest } from "@harnesskit/protocol/runtime";

const agentFixture = fileURLToPath(new URL("../fixtures/agent.mjs", import.meta.url));

/** Directories of one test, and what removes them. */
export class AgentDirectories {
  readonly #made: string[] = [];

  /** A fresh directory with the manifest of the fixture that misbehaves in the given ways. */
  async make(
    modes: readonly string[] = [],
    manifest: Partial<AgentManifest> = {},
  ): Promise<{ directory: string; id: string }> {
    const directory = await this.empty();
    const id = `org.example.agent-${this.#made.length}`;
    const whole = { id, version: "1.2.3", command: [process.execPath, agentFixture, ...modes], ...manifest };
    await writeManifest(directory, whole);
    return { directory, id: whole.id };
  }

  async empty(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), "hk-launched-"));
    this.#made.push(directory);
    return directory;
  }

  async remove(): Promise<void> {
    for (const directory of this.#made.splice(0)) await rm(directory, { recursive: true, force: true });
  }
}

export const writeManifest = (directory: string, manifest: object): Promise<void> =>
  writeFile(join(directory, "opensentience.agent.json"), JSON.stringify(manifest));
