export { type NotifyConfig, parseNotifyConfig } from "./config.ts";
export { createNotifier, type Notifier, type NotifierLimits, type NotifierOptions } from "./notifier.ts";
export { NotifyError, type NotifyErrorCode } from "./notify-error.ts";
export { openPushKeys, type PushKeys } from "./push-keys.ts";
export { openSentLog, type SentLog } from "./sent-log.ts";
export { type WebPushTarget, webPushConfig } from "./targets/web-push.ts";
