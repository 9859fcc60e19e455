import type { Attributes } from "@opentelemetry/api";

/** What `@harnesskit/otel` adds to the spans of a process. */
export interface SpanExtras {
  /** Content as the text of an attribute; undefined for what is not to be recorded. Left out: no content is. */
  readonly content?: ((attribute: string, value: unknown) => string | undefined) | undefined;
  /** Called when a span has ended, also one that no sampler chose. */
  ended(metric: string, attributes: Attributes, seconds: number): void;
}

/** On the global object, so that every copy of this module in a process, bundled or not, has the same. */
const key = Symbol.for("harnesskit.spans.1");
const slot = globalThis as { [key]?: SpanExtras | undefined };

export const spanExtras = (): SpanExtras | undefined => slot[key];

/** Records content or metrics of all roles of this process from now on; undefined: neither. */
export const setSpanExtras = (extras: SpanExtras | undefined): void => {
  slot[key] = extras;
};
