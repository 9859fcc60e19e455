import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { mediaTypeOfBytes } from "../attachments/attachment-content.ts";
import { displayText } from "../display.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { wellFormedJson } from "../replay/well-formed.ts";
import { binaryOf, bytesOfBase64, contentItems } from "./tool-media.ts";

/** Where a provider takes a medium of a tool's result: in the result, or in a message of the user behind it. */
export type MediaPlace = "result" | "message";

/** What a provider is given of an output, as parts of the AI SDK. */
export interface ModelOutput {
  readonly result:
    | { readonly type: "text"; readonly value: string }
    | { readonly type: "content"; readonly value: ResultPart[] };
  /** Parts of a message of the user that follows the results. */
  readonly message: readonly { readonly type: "file"; readonly data: string; readonly mediaType: string }[];
}

/** A part of a tool's result as the AI SDK takes it. */
export type ResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image-data" | "file-data"; readonly data: string; readonly mediaType: string };

/** Providers of the AI SDK that put the media of a tool's result into their request; others would write base64 as text. */
const inResults = /\banthropic\b|^(?:azure-)?(?:openai|azure)\.responses$|^google\b|^amazon-bedrock$/;

/** Of their models each takes images and PDFs, and none in the result of a tool. */
const inMessages = /^openai\.chat$/;

/** Where the provider of a model takes the media of tools; undefined where it is not known to take any. A model of the gateway is a string. */
export const mediaPlaceOf = (model: string | { readonly provider: string }): MediaPlace | undefined => {
  const provider = typeof model === "string" ? (model.split("/")[0] ?? "") : model.provider;
  if (inResults.test(provider)) return "result";
  return inMessages.test(provider) ? "message" : undefined;
};

/** Characters of base64 of one medium that a provider is given: 4 MiB of bytes. */
const maxDataLength = 5_592_408;

/** The bytes say what they are, whatever their sender calls them: a provider refuses a request with an image that is something else. */
const typeOf = (data: string): string | undefined => {
  const bytes = bytesOfBase64(data.slice(0, 64).replace(/=+$/, ""));
  return bytes && mediaTypeOfBytes(bytes);
};

const noteOf = ({ mimeType, uri, data, size, omitted_length: omitted, artifact }: JsonObject): string => {
  const length = typeof data === "string" ? data.length : omitted;
  const bytes = size ?? (typeof length === "number" ? Math.floor((length * 3) / 4) : undefined);
  const words = [mimeType ?? "data", uri, bytes === undefined ? undefined : `${bytes} bytes`];
  const what = words.filter((word) => word !== undefined).join(", ");
  const kept = artifact === undefined ? "" : `; kept for the user as the artifact ${artifact}`;
  return displayText(`[${what}: not included${kept}]`, { maxLength: 1000 });
};

const repeats = (text: string, structured: string): boolean => {
  try {
    return canonicalJson(wellFormedJson(JSON.parse(text))) === structured;
  } catch {
    return false;
  }
};

const roundedNote = "\n[an integer beyond 2^53 in this may be rounded: its last digits are not known]";

const hasUnsafeInteger = (value: JsonValue): boolean => {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((part) => hasUnsafeInteger(part as JsonValue))
  );
};

/** Structured content, unless a text says the same: that has the exact numbers. */
const structuredText = (output: JsonObject, items: readonly JsonObject[]): string[] => {
  const { structuredContent } = output;
  if (structuredContent === undefined || structuredContent === null) return [];
  const value = wellFormedJson(structuredContent) as JsonValue;
  const canonical = canonicalJson(value);
  const isSaid = items.some(({ text }) => typeof text === "string" && repeats(text, canonical));
  return isSaid ? [] : [`${JSON.stringify(value)}${hasUnsafeInteger(value) ? roundedNote : ""}`];
};

const itemText = (item: JsonObject): string => {
  if (item.type === "text" && typeof item.text === "string") return item.text;
  const { uri, text } = (item.type === "resource" ? item.resource : {}) as JsonObject;
  return typeof text === "string" ? `[resource ${uri}]\n${text}` : JSON.stringify(item);
};

/**
 * An output in MCP's form as the model gets it: texts exactly, media where their place is, and otherwise a note with their kind and
 * size. Undefined for any other output.
 */
export const toModelOutput = (
  output: JsonValue | undefined,
  place: MediaPlace | undefined,
): ModelOutput | undefined => {
  const items = contentItems(output);
  if (items === undefined) return undefined;
  const message: ModelOutput["message"][number][] = [];
  const parts = items.map((item): ResultPart => {
    const binary = binaryOf(item);
    if (binary === undefined) return { type: "text", text: itemText(item) };
    const { data } = binary;
    const mediaType =
      place && typeof data === "string" && data.length <= maxDataLength ? typeOf(data) : undefined;
    if (typeof data !== "string" || mediaType === undefined) return { type: "text", text: noteOf(binary) };
    if (place === "message") {
      message.push({ type: "file", data, mediaType });
      return { type: "text", text: `[${mediaType}: it follows in a message, ${message.length}]` };
    }
    return { type: mediaType.startsWith("image/") ? "image-data" : "file-data", data, mediaType };
  });
  const { omitted_items: omitted, ...rest } = output as JsonObject;
  const more = structuredText(rest, items);
  if (typeof omitted === "number") more.push(`[${omitted} more items were left out]`);
  const value = [...parts, ...more.map((text): ResultPart => ({ type: "text", text }))];
  const isText = value.every(({ type }) => type === "text");
  if (!isText) return { result: { type: "content", value }, message };
  const texts = value.map((part) => (part.type === "text" ? part.text : ""));
  return { result: { type: "text", value: texts.join("\n") }, message };
};
