import { setSpanExtras } from "@harnesskit/wire/trace";
import { contentText } from "./content.ts";
import { recordMetrics } from "./metrics.ts";
import { checkOtelOptions } from "./option-names.ts";

export interface OtelOptions {
  /**
   * Whether spans have prompts, inputs and outputs of tools, questions and suspensions. They may hold personal data and secrets.
   * @default false
   */
  readonly content?: boolean | undefined;
  /** Characters of each such attribute; the rest is cut. @default 4096 */
  readonly maxContentLength?: number | undefined;
}

/** Where `@opentelemetry/api` keeps what an SDK registers. */
const globalApi = Symbol.for("opentelemetry.js.api.1");

/** Whether an SDK is registered with the OpenTelemetry API of this process. */
export const hasOtelSdk = (): boolean => {
  const registered = (globalThis as { [globalApi]?: { trace?: unknown; metrics?: unknown } })[globalApi];
  return registered?.trace !== undefined || registered?.metrics !== undefined;
};

/**
 * Adds metrics, and content where it is asked for, to the spans that all roles of this process give the OpenTelemetry API. Call it after
 * the SDK was started. Without an SDK it does nothing and returns false. Throws `invalid_argument` for invalid options.
 */
export const registerOtel = (options: OtelOptions = {}): boolean => {
  const { content = false, maxContentLength = 4096 } = checkOtelOptions(options);
  if (!hasOtelSdk()) return false;
  setSpanExtras({
    content: content ? (attribute, value) => contentText(attribute, value, maxContentLength) : undefined,
    ended: recordMetrics(),
  });
  return true;
};

/** Ends metrics and content. Spans go on as long as their SDK runs. */
export const unregisterOtel = (): void => setSpanExtras(undefined);
