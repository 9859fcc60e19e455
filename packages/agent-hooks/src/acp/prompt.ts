import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { canonicalJson, isObject, utf8Length } from "@harnesskit/wire/json";
import { withoutAbsent } from "../fields.ts";

/** A prompt of the editor's user, as policies see it. */
export interface AcpPrompt {
  /** Its texts, with an empty line between them. */
  readonly prompt: string;
  /**
   * What is not text alone: files, links, images without their data, texts with other fields. Each has the `digest` of the whole block, so that
   * what is decided about one attachment holds for no other.
   */
  readonly attachments: readonly JsonObject[];
}

const maxTextBytes = 64 * 1024;

const described = (block: JsonObject, digest: (text: string) => string): JsonObject => {
  const { type, uri, name, mimeType, data, resource } = block;
  const inner = isObject(resource) ? (resource as JsonObject) : {};
  const shown: Record<string, JsonValue | undefined> = {
    type,
    uri: uri ?? inner.uri,
    name,
    mimeType: mimeType ?? inner.mimeType,
  };
  if (typeof inner.text === "string") {
    const bytes = utf8Length(inner.text);
    if (bytes <= maxTextBytes) shown.text = inner.text;
    else shown.text_omitted_bytes = bytes;
  }
  const binary = data ?? inner.blob;
  if (typeof binary === "string") shown.base64_omitted_bytes = binary.length;
  return { ...withoutAbsent(shown), digest: digest(canonicalJson(block)) };
};

const isTextBlock = (block: JsonObject): block is JsonObject & { text: string } =>
  block.type === "text" && typeof block.text === "string";

const isTextAlone = (block: JsonObject): boolean => isTextBlock(block) && Object.keys(block).length === 2;

/** The content of `session/prompt`. Throws `invalid_argument` for a block that has no canonical form. */
export const readPrompt = (blocks: readonly JsonObject[], digest: (text: string) => string): AcpPrompt => ({
  prompt: blocks
    .filter(isTextBlock)
    .map(({ text }) => text)
    .join("\n\n"),
  attachments: blocks.filter((one) => !isTextAlone(one)).map((one) => described(one, digest)),
});

/** The blocks with a new text in place of the only one; undefined where there is not exactly one. */
export const withPrompt = (
  blocks: readonly JsonValue[],
  prompt: string,
): readonly JsonValue[] | undefined => {
  const isOne = (one: JsonValue): boolean => isObject(one) && isTextBlock(one as JsonObject);
  if (blocks.filter(isOne).length !== 1) return undefined;
  return blocks.map((one) => (isOne(one) ? { ...(one as JsonObject), text: prompt } : one));
};
