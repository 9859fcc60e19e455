import type { ShellResponsePayload } from "@harnesskit/protocol/openharness";
import { freezeJson } from "./freeze-json.ts";

/**
 * What a response says, as an object and as JSON text: each is made of the other when it is asked for. The object is frozen,
 * because the text would not tell of a change.
 */
export class Payload {
  #value: ShellResponsePayload | undefined;
  #text: string | undefined;

  private constructor(value: ShellResponsePayload | undefined, text: string | undefined) {
    this.#value = value;
    this.#text = text;
  }

  static of(value: ShellResponsePayload): Payload {
    return new Payload(freezeJson(value), undefined);
  }

  static ofText(text: string): Payload {
    return new Payload(undefined, text);
  }

  get value(): ShellResponsePayload {
    this.#value ??= freezeJson(JSON.parse(this.#text ?? "") as ShellResponsePayload);
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
