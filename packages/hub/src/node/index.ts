export type { HubPrincipal } from "./access.ts";
export type { AnswerLinkOptions } from "./answer-links.ts";
export { type ServedHub, type ServeHubOptions, serveHub } from "./serve-hub.ts";
