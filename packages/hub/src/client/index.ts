export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubIntroduction,
  type ParamsArgument,
  type WatchOptions,
} from "./hub-client.ts";
export { HubError } from "./hub-error.ts";
