import { isObject } from "@harnesskit/wire/json";
import { type CallToolResult, isSpecType } from "@modelcontextprotocol/client";
import * as z from "zod";
import { carriedResult, withoutNulls } from "./read-message.ts";

/** A page of `tools/list`. Its entries are judged one by one, later: one that is wrong does not cost the others. */
export const ToolsPageSchema = z.preprocess(
  carriedResult,
  z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() }),
);

/** An item without nulls. One of a kind that is not known, or malformed, is a note of it. */
const readItem = (value: unknown): CallToolResult["content"][number] => {
  const item = isObject(value) ? withoutNulls(value) : {};
  if (isObject(item.resource)) item.resource = withoutNulls(item.resource);
  const bare: unknown = { ...item, annotations: undefined, _meta: undefined };
  if (isSpecType.ContentBlock(bare)) return bare;
  const kind = typeof item.type === "string" ? JSON.stringify(item.type.slice(0, 100)) : "no kind";
  return {
    type: "text",
    text: `[left out: content of the kind ${kind}, which is not known or is malformed]`,
  };
};

/** The result of `tools/call`: null is absent, and of servers of 2024 `toolResult` is the result. */
const ToolResultSchema = z
  .looseObject({
    content: z.array(z.unknown()).nullish(),
    structuredContent: z.record(z.string(), z.unknown()).nullish(),
    isError: z.boolean().nullish(),
    toolResult: z.unknown().optional(),
  })
  .transform(({ content, structuredContent, isError, toolResult }): CallToolResult => {
    const old = toolResult === undefined ? [] : [{ type: "text", text: oldResultText(toolResult) }];
    return {
      content: (content ?? old).map(readItem),
      structuredContent: structuredContent || undefined,
      isError: isError || undefined,
    };
  });

/** Throws a `ZodError` for what is not a result of a tool. */
export const readToolResult = (value: unknown): CallToolResult => ToolResultSchema.parse(value);

const oldResultText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
