/** Written by the build, so that a program into which this package is bundled has it too. */
declare const AGENT_SDK_VERSION: string | undefined;

/** What `agent.hello` says of this package; not built, as in its tests, it has no version. */
export const sdk = {
  name: "@harnesskit/agent-sdk",
  version: typeof AGENT_SDK_VERSION === "string" ? AGENT_SDK_VERSION : "0.0.0",
};
