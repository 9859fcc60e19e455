import type { JsonObject } from "@harnesskit/protocol/envelope";

/** What a run of a host is made of: a home and a project of its own, a model, and hooks. */
export interface HostRunParts {
  /** A directory that exists, for the host's settings; nothing of the user's is in it. */
  readonly home: string;
  /** A directory that exists, in which the host works. */
  readonly project: string;
  /** Of a scripted model. */
  readonly modelUrl: string;
  /** The settings with the hooks; undefined: none. */
  readonly hooks: JsonObject | undefined;
  /** Whether the host is made to trust the hooks. */
  readonly isTrusted: boolean;
  readonly prompt: string;
}

/** How to start a host for one prompt. */
export interface HostStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A host that can be run offline. */
export interface RunnableHost {
  readonly id: string;
  /** Writes the settings into the home or the project, and says how to start the host. */
  readonly prepare: (parts: HostRunParts) => Promise<HostStart>;
}
