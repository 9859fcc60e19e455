export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubIntroduction,
  type WatchOptions,
} from "./hub-client.ts";
export { HubError } from "./hub-error.ts";
