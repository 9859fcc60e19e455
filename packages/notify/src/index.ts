export {
  type NotifyConfig,
  NotifyConfigSchema,
  type NotifyStep,
  type NotifyTarget,
  parseNotifyConfig,
} from "./config.ts";
export type { Notice, NoticeItem, NoticeLinks } from "./notice.ts";
export {
  createNotifier,
  type Notifier,
  type NotifierLimits,
  type NotifierOptions,
  notifierLimits,
} from "./notifier.ts";
export { NotifyError, type NotifyErrorCode } from "./notify-error.ts";
export { createSentLog, openSentLog, type SentLog } from "./sent-log.ts";
