import type { AssistantBlock, ImageBlock, UserBlock } from "@harnesskit/protocol/chat";
import { defined, isObject } from "@harnesskit/wire/json";
import type { AssistantModelMessage, ImagePart, ProviderMetadata, UserModelMessage } from "ai";
import { ChatModelError } from "./to-model-error.ts";

/** The kinds of provider strings in content blocks. */
type Kind = "signature" | "redactedData";

/** The bare string of metadata that holds only Anthropic's signature or hidden thinking. */
const bareText = (metadata: ProviderMetadata, kind: Kind): string | undefined => {
  const [[provider, values] = [], ...others] = Object.entries(metadata);
  if (provider !== "anthropic" || others.length > 0 || !isObject(values)) return undefined;
  const [[key, text] = [], ...more] = Object.entries(values);
  return key === kind && more.length === 0 && typeof text === "string" ? text : undefined;
};

/** The metadata that a string holds as JSON; undefined for a bare string. */
const spelledOut = (text: string, kind: Kind): ProviderMetadata | undefined => {
  if (!text.startsWith('{"')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !Object.values(value).every(isObject) || JSON.stringify(value) !== text)
    return undefined;
  const metadata = value as ProviderMetadata;
  const bare = bareText(metadata, kind);
  return bare === undefined || spelledOut(bare, kind) !== undefined ? metadata : undefined;
};

/**
 * A provider's metadata as the one string of a chat message. Anthropic's signature alone, and its hidden thinking, are bare
 * strings, as in other implementations; anything else is JSON.
 */
const textOfMetadata = (metadata: ProviderMetadata, kind: Kind): string => {
  const bare = bareText(metadata, kind);
  return bare === undefined || spelledOut(bare, kind) !== undefined ? JSON.stringify(metadata) : bare;
};

/** The way back from {@link textOfMetadata}. Each provider reads only its own part. */
const metadataOfText = (text: string, kind: Kind): ProviderMetadata =>
  spelledOut(text, kind) ?? { anthropic: { [kind]: text } };

export type UserPart = Exclude<UserModelMessage["content"], string>[number];
export type AssistantPart = Exclude<AssistantModelMessage["content"], string>[number];

/** A signature as the options of a part. */
export const toOptions = (
  signature: string | undefined,
): { providerOptions: ProviderMetadata } | Record<never, never> =>
  signature === undefined ? {} : { providerOptions: metadataOfText(signature, "signature") };

/** The options of a part as a signature. */
export const toSignature = ({
  providerOptions,
}: {
  readonly providerOptions?: ProviderMetadata | undefined;
}): { signature?: string } =>
  hasOptions(providerOptions) ? { signature: textOfMetadata(providerOptions, "signature") } : {};

const hasOptions = (options: ProviderMetadata | undefined): options is ProviderMetadata =>
  options !== undefined && Object.keys(options).length > 0;

const toImagePart = ({ source, media_type: mediaType, detail }: ImageBlock): ImagePart => {
  const isUrl = source.type === "url";
  const image = isUrl ? source.url : source.base64_data;
  // The SDK reads a string as an address if it can, and as bytes otherwise.
  if (URL.canParse(image) !== isUrl) {
    const what = isUrl ? "the address of an image is not a URL" : "the bytes of an image are not base64";
    throw new ChatModelError("provider_invalid_request", what);
  }
  const providerOptions = detail === undefined ? undefined : { openai: { imageDetail: detail } };
  return defined({ type: "image" as const, image, mediaType, providerOptions });
};

/** A block of a user's message as a part for the AI SDK. Throws `provider_invalid_request` for an image that is not valid. */
export const toUserPart = (block: UserBlock): UserPart =>
  block.type === "text"
    ? { type: "text", text: block.text, ...toOptions(block.signature) }
    : toImagePart(block);

/** A block of the assistant's message as a part for the AI SDK. */
export const toAssistantPart = (block: AssistantBlock): AssistantPart => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text, ...toOptions(block.signature) };
    case "thinking":
      return { type: "reasoning", text: block.text, ...toOptions(block.signature) };
    case "redacted_thinking":
      return { type: "reasoning", text: "", providerOptions: metadataOfText(block.data, "redactedData") };
  }
};

/**
 * The way back from {@link toAssistantPart}. A part without text is kept for what its provider put beside it, as hidden
 * thinking; undefined where there is nothing of it to keep.
 */
export const fromAssistantPart = (part: {
  readonly type: "text" | "reasoning";
  readonly text: string;
  readonly providerOptions?: ProviderMetadata | undefined;
}): AssistantBlock | undefined => {
  const { type, text, providerOptions } = part;
  if (text === "") {
    if (!hasOptions(providerOptions)) return undefined;
    return { type: "redacted_thinking", data: textOfMetadata(providerOptions, "redactedData") };
  }
  return { type: type === "text" ? "text" : "thinking", text, ...toSignature(part) };
};
