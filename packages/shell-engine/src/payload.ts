import type { ShellResponsePayload } from "@harnesskit/protocol/openharness";

/** What a response says, as an object and as JSON text: each is made of the other when it is asked for. */
export class Payload {
  #value: ShellResponsePayload | undefined;
  #text: string | undefined;

  private constructor(value: ShellResponsePayload | undefined, text: string | undefined) {
    this.#value = value;
    this.#text = text;
  }

  static of(value: ShellResponsePayload): Payload {
    return new Payload(value, undefined);
  }

  static ofText(text: string): Payload {
    return new Payload(undefined, text);
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
}
