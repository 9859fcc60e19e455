import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "../json/json.ts";

/** An image, a sound or a file in the result of a tool. */
export interface ToolMedia {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** The bytes of a base64 string; undefined for any other. */
export const bytesOfBase64 = (data: string): Uint8Array | undefined => {
  try {
    return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const kinds: ReadonlySet<unknown> = new Set(["text", "image", "audio", "resource", "resource_link"]);

const isItem = (value: JsonValue | undefined): value is JsonObject =>
  isObject(value) && typeof (value as JsonObject).type === "string";

/** The items of an output in MCP's form, `{ content: [{ type, … }], structuredContent }`; undefined for any other output. */
export const contentItems = (output: JsonValue | undefined): readonly JsonObject[] | undefined => {
  const { content, structuredContent } = (isObject(output) ? output : {}) as JsonObject;
  if (!Array.isArray(content) || !content.every(isItem)) return undefined;
  const isMcp =
    content.length === 0 ? isObject(structuredContent) : content.some(({ type }) => kinds.has(type));
  return isMcp ? content : undefined;
};

/** Where an item holds its bytes and their type; undefined for one that is text. */
export const binaryOf = ({ type, resource, ...item }: JsonObject): JsonObject | undefined => {
  if (type === "image" || type === "audio") return item;
  if (type !== "resource" || !isObject(resource) || "text" in resource) return undefined;
  const { blob, ...fields } = resource as JsonObject;
  return blob === undefined ? fields : { ...fields, data: blob };
};

const inItem = (item: JsonObject): ToolMedia[] => {
  const { data, mimeType } = binaryOf(item) ?? {};
  if (typeof data !== "string") return [];
  return [{ mediaType: typeof mimeType === "string" ? mimeType : "application/octet-stream", data }];
};

/** The media of an output in MCP's form, in order. */
export const mediaOf = (output: JsonValue | undefined): ToolMedia[] =>
  (contentItems(output) ?? []).flatMap(inItem);

/** The output with other fields in the place of each of its media, in order; those are left as they are for which there are none. */
export const replaceMedia = (output: JsonValue, fields: readonly JsonObject[]): JsonValue => {
  let next = 0;
  const content = contentItems(output)?.map((item): JsonObject => {
    if (inItem(item).length === 0) return item;
    const more = fields[next++] ?? {};
    const { data: _data, resource, ...kept } = item;
    if (item.type !== "resource") return { ...kept, ...more };
    const { blob: _blob, ...named } = resource as JsonObject;
    const { data, ...others } = more;
    return { ...kept, resource: { ...named, ...others, ...(data !== undefined && { blob: data }) } };
  });
  return content === undefined ? output : { ...(output as JsonObject), content };
};

/** An output in MCP's form that is written as JSON; undefined for any other text. */
export const outputInText = (text: string): JsonValue | undefined => {
  if (!text.startsWith("{") || !text.includes('"content":[')) return undefined;
  try {
    const output: JsonValue = JSON.parse(text);
    return contentItems(output) && output;
  } catch {
    return undefined;
  }
};

/**
 * The text with the size of each image or file in the place of its bytes, where it is an output in MCP's form. Those stay for which there is `room`,
 * characters of base64.
 */
export const nameMediaInText = (text: string, room = 0): string => {
  const output = outputInText(text);
  const media = mediaOf(output);
  if (output === undefined || media.length === 0) return text;
  let left = room;
  const kept = media.map(({ data }) => {
    if (data.length > left) return { size: Math.floor((data.length * 3) / 4) };
    left -= data.length;
    return { data };
  });
  return JSON.stringify(replaceMedia(output, kept));
};
