export { type ServedHub, type ServeHubOptions, serveHub } from "./serve-hub.ts";
