import type { CapabilityDenial, ShellResponsePayload } from "@harnesskit/protocol/openharness";

const none: readonly CapabilityDenial[] = Object.freeze([]);
/** Stands between the parts of what is kept. JSON that is not indented holds no line break. */
const separator = "\n";

/**
 * What a response says, as an object and as JSON text: each is made of the other when it is asked for. With it go the
 * capabilities that the directives needed and the shell did not declare; they stand beside it in the response.
 */
export class Payload {
  readonly denials: readonly CapabilityDenial[];
  #value: ShellResponsePayload | undefined;
  #text: string | undefined;

  private constructor(
    value: ShellResponsePayload | undefined,
    text: string | undefined,
    denials: readonly CapabilityDenial[],
  ) {
    this.#value = value;
    this.#text = text;
    this.denials = denials;
  }

  static of(value: ShellResponsePayload, denials = none): Payload {
    return new Payload(value, undefined, denials);
  }

  /** Of what `kept` gave. */
  static ofKept(kept: string): Payload {
    const end = kept.indexOf(separator);
    if (end < 0) return new Payload(undefined, kept, none);
    return new Payload(undefined, kept.slice(0, end), JSON.parse(kept.slice(end + 1)) as CapabilityDenial[]);
  }

  get value(): ShellResponsePayload {
    this.#value ??= JSON.parse(this.#text ?? "") as ShellResponsePayload;
    return this.#value;
  }

  /** Whether the text is there. */
  get hasText(): boolean {
    return this.#text !== undefined;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#value);
    return this.#text;
  }

  /** All of it as one string, for the memory of requests. */
  get kept(): string {
    return this.denials.length === 0 ? this.text : `${this.text}${separator}${JSON.stringify(this.denials)}`;
  }
}
