export type { HubPrincipal } from "./access.ts";
export { type ServedHub, type ServeHubOptions, serveHub } from "./serve-hub.ts";
