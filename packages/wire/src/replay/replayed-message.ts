import { isObject } from "../json/json.ts";

/** A message of the AI SDK: its `ModelMessage` and any other type of this form. */
export interface ReplayMessage {
  readonly role: string;
  readonly content: unknown;
}

/** A model of the AI SDK, or the name of one, such as `anthropic/claude-sonnet-4.5`. */
export type ReplayModel = string | { readonly provider: string; readonly modelId: string };

/** A part of a message as its author made it: a model, a tool or a user. */
export interface Part extends Readonly<Record<string, unknown>> {
  readonly type: string;
}

/** A message whose content is a list of parts; a string for the system alone. */
export interface MendedMessage extends ReplayMessage {
  readonly content: string | readonly Part[];
}

/** The parts of a message: a string is one text. */
export const partsOf = ({ content }: ReplayMessage): readonly Part[] => {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter((part): part is Part => isObject(part)) : [];
};
