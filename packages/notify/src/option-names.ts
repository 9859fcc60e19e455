import { defineOptions } from "@harnesskit/wire";
import type { NotifierOptions } from "./notifier.ts";

export const checkNotifierOptions = defineOptions<NotifierOptions>("createNotifier", {
  config: true,
  source: true,
  links: true,
  sent: false,
  limits: false,
  onError: false,
  fetch: false,
  clock: false,
});
