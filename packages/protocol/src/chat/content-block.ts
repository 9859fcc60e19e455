import * as z from "zod";
import { discriminatedUnion, object } from "../fields.ts";

/** Text. Alone in a list it means the same as its string as content. The signature is the provider's, kept as it is. */
export const TextBlockSchema = object(() => ({
  type: z.literal("text"),
  text: z.string().min(1),
  signature: z.string().optional(),
}));

/** Where an image is: an address of any scheme, which is never fetched, or its bytes; never both. */
export const ImageSourceSchema = discriminatedUnion("type", [
  object(() => ({ type: z.literal("url"), url: z.string().min(1), base64_data: z.never().optional() })),
  object(() => ({ type: z.literal("inline"), base64_data: z.string().min(1), url: z.never().optional() })),
]);

const image = {
  type: z.literal("image"),
  detail: z.enum(["auto", "low", "high"]).optional(),
};
const [UrlSourceSchema, InlineSourceSchema] = ImageSourceSchema.options;

/** An image, in messages of the user only. Inline bytes need their media type; beside an address it is ignored. */
export const ImageBlockSchema = z.union([
  object(() => ({ ...image, source: UrlSourceSchema, media_type: z.string().optional() })),
  object(() => ({
    ...image,
    source: InlineSourceSchema,
    media_type: z.string().regex(/^image\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$/),
  })),
]);
export type ImageBlock = z.infer<typeof ImageBlockSchema>;

/** What a model thought, in messages of the assistant only. */
export const ThinkingBlockSchema = object(() => ({
  type: z.literal("thinking"),
  text: z.string().min(1),
  signature: z.string().optional(),
}));

/** What a model thought and its provider hid, in messages of the assistant only. */
export const RedactedThinkingBlockSchema = object(() => ({
  type: z.literal("redacted_thinking"),
  data: z.string(),
}));

/** A part of a message's content. Which roles may have it depends on its type. */
export const ContentBlockSchema = z.union([
  TextBlockSchema,
  ImageBlockSchema,
  ThinkingBlockSchema,
  RedactedThinkingBlockSchema,
]);

/** What a message of the user may consist of. */
export const UserBlockSchema = z.union([TextBlockSchema, ImageBlockSchema]);
export type UserBlock = z.infer<typeof UserBlockSchema>;

/** What a message of the assistant may consist of. */
export const AssistantBlockSchema = discriminatedUnion("type", [
  TextBlockSchema,
  ThinkingBlockSchema,
  RedactedThinkingBlockSchema,
]);
export type AssistantBlock = z.infer<typeof AssistantBlockSchema>;
