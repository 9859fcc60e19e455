import { defineOptions } from "@harnesskit/wire";
import type { HubClientOptions } from "./client/hub-client.ts";
import type { HubOptions } from "./hub-options.ts";
import type { ServeHubOptions } from "./node/serve-hub.ts";

export const checkHubClientOptions = defineOptions<HubClientOptions>("createHubClient", {
  transport: true,
  client: true,
  reconnect: false,
  requestTimeoutMs: false,
  onError: false,
  onState: false,
  clock: false,
});

export const checkHubOptions = defineOptions<HubOptions>("createHub", {
  policy: true,
  approvals: true,
  timeline: true,
  name: false,
  version: true,
  commands: false,
  formerPolicy: false,
  savePolicy: false,
  costOf: false,
  stateStore: false,
  riskOf: false,
  protectionOf: false,
  secretFields: false,
  grantMs: false,
  audit: false,
  limits: false,
  onError: false,
  clock: false,
  createId: false,
});

export const checkServeHubOptions = defineOptions<ServeHubOptions>("serveHub", {
  hub: true,
  place: true,
  port: false,
  publicUrl: false,
  tls: false,
  pushKey: false,
  pageDirectory: false,
  user: false,
  handlers: false,
  audit: false,
  onError: false,
  clock: false,
});
