import * as ahpEntry from "./ahp/index.ts";
import * as ahpParts from "./ahp/parts.ts";
import * as chatEntry from "./chat/index.ts";
import * as chatParts from "./chat/parts.ts";
import * as envelope from "./envelope/index.ts";
import * as hubEntry from "./hub/index.ts";
import * as hubParts from "./hub/parts.ts";
import * as openharnessEntry from "./openharness/index.ts";
import * as openharnessParts from "./openharness/parts.ts";
import * as runtimeEntry from "./runtime/index.ts";
import * as runtimeParts from "./runtime/parts.ts";
import * as threadsEntry from "./threads/index.ts";
import * as threadsParts from "./threads/parts.ts";

export { envelope };

// Each protocol as its JSON Schema document has it: what the entry exports, and the named parts of its schemas.
export const ahp = { ...ahpEntry, ...ahpParts };
export const chat = { ...chatEntry, ...chatParts };
export const hub = { ...hubEntry, ...hubParts };
export const openharness = { ...openharnessEntry, ...openharnessParts };
export const runtime = { ...runtimeEntry, ...runtimeParts };
export const threads = { ...threadsEntry, ...threadsParts };
