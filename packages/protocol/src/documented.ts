import * as ahpCommon from "./ahp/common.ts";
import * as ahpContextValues from "./ahp/context-values.ts";
import * as ahpContracts from "./ahp/contracts.ts";
import * as ahpDecisions from "./ahp/decisions.ts";
import * as ahpEventTypes from "./ahp/event-types.ts";
import * as ahpEntry from "./ahp/index.ts";
import * as ahpMethods from "./ahp/methods.ts";
import * as ahpPayloads from "./ahp/payloads.ts";
import * as chatMessages from "./chat/chat-message.ts";
import * as chatOutcomes from "./chat/chat-turn-outcome.ts";
import * as chatBlocks from "./chat/content-block.ts";
import * as chatEntry from "./chat/index.ts";
import * as chatRecords from "./chat/records.ts";
import * as envelope from "./envelope/index.ts";
import * as hubActivity from "./hub/activity.ts";
import * as hubDevices from "./hub/devices.ts";
import * as hubEntry from "./hub/index.ts";
import * as hubPolicy from "./hub/policy.ts";
import * as shellCapabilities from "./openharness/capabilities.ts";
import * as shellContext from "./openharness/context.ts";
import * as shellActions from "./openharness/core-actions.ts";
import * as shellDirective from "./openharness/directive.ts";
import * as shellExtension from "./openharness/harnesskit-extension.ts";
import * as openharnessEntry from "./openharness/index.ts";
import * as shellRequest from "./openharness/request.ts";
import * as shellResponse from "./openharness/response.ts";
import * as shellStreaming from "./openharness/streaming.ts";
import * as shellVersion from "./openharness/version.ts";
import * as runtimeCalls from "./runtime/calls.ts";
import * as runtimeCoreApi from "./runtime/core-api.ts";
import * as runtimeEntry from "./runtime/index.ts";
import * as runtimeManifest from "./runtime/manifest.ts";
import * as runtimeSession from "./runtime/session.ts";
import * as runtimeTools from "./runtime/tools.ts";
import * as threadsEntry from "./threads/index.ts";
import * as threadsItem from "./threads/item.ts";
import * as threadsJudgement from "./threads/judgement.ts";
import * as threadsSearch from "./threads/search.ts";
import * as threadsThread from "./threads/thread.ts";

export { envelope };

// Each protocol as its JSON Schema document has it: what the entry exports, and the other schemas of its files.
const ahpSchemas = {
  ...ahpCommon,
  ...ahpContextValues,
  ...ahpContracts,
  ...ahpDecisions,
};
export const ahp = { ...ahpEntry, ...ahpSchemas, ...ahpEventTypes, ...ahpMethods, ...ahpPayloads };
export const chat = { ...chatEntry, ...chatMessages, ...chatOutcomes, ...chatBlocks, ...chatRecords };
export const hub = { ...hubEntry, ...hubActivity, ...hubDevices, ...hubPolicy };
const shellMessages = { ...shellRequest, ...shellResponse, ...shellStreaming, ...shellVersion };
const shellParts = { ...shellCapabilities, ...shellContext, ...shellActions, ...shellDirective };
export const openharness = { ...openharnessEntry, ...shellParts, ...shellExtension, ...shellMessages };
const runtimeSchemas = { ...runtimeCalls, ...runtimeCoreApi, ...runtimeManifest };
export const runtime = { ...runtimeEntry, ...runtimeSchemas, ...runtimeSession, ...runtimeTools };
export const threads = {
  ...threadsEntry,
  ...threadsItem,
  ...threadsJudgement,
  ...threadsSearch,
  ...threadsThread,
};
