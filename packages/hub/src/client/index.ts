export {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  type HubIntroduction,
  type HubWatchOptions,
  type ParamsArgument,
} from "./hub-client.ts";
export { HubError, type HubErrorReason } from "./hub-error.ts";
