export { type NotifyConfig, parseNotifyConfig } from "./config.ts";
export { createNotifier, type Notifier, type NotifierOptions } from "./notifier.ts";
export { NotifyError } from "./notify-error.ts";
export { openPushKeys, type PushKeys } from "./push-keys.ts";
export { openSentLog } from "./sent-log.ts";
export { webPushConfig } from "./targets/web-push.ts";
