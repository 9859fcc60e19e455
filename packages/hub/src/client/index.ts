export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubIntroduction,
  type ParamsArgument,
  type WatchOptions,
} from "./hub-client.ts";
export { HubError, type HubErrorReason } from "./hub-error.ts";
