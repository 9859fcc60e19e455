import { readFileSync } from "node:fs";

const manifest = new URL("../../packages/agent-sdk/package.json", import.meta.url);

/** What agents say of themselves: builds put it in the place of `AGENT_SDK_VERSION`. */
export const agentSdkVersion: string = JSON.parse(readFileSync(manifest, "utf8")).version;
