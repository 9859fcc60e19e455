import { readFileSync } from "node:fs";

const name = "@harnesskit/agent-sdk";

/** Bundled into a program this package has no manifest of its own any more. */
const ownVersion = (): string => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    const { name: found, version } = manifest as { name?: unknown; version?: unknown };
    return found === name && typeof version === "string" ? version : "unknown";
  } catch {
    return "unknown";
  }
};

/** What `agent.hello` says of this package. */
export const sdk = { name, version: ownVersion() };
