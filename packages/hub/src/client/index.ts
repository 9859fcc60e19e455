export { happenings, saysSomething, shownAtMs } from "./happenings.ts";
export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubIntroduction,
} from "./hub-client.ts";
export { HubError } from "./hub-error.ts";
export { saidText } from "./said-text.ts";
export { csvHeader, csvRow } from "./timeline-csv.ts";
