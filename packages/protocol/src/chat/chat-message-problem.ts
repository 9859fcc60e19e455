import type * as z from "zod";
import { isObject } from "../base/json-walk.ts";
import {
  CallingMessageSchema,
  SayingMessageSchema,
  SystemMessageSchema,
  ToolMessageSchema,
  UserMessageSchema,
} from "./chat-message.ts";

type Issue = z.core.$ZodIssue;

interface Told {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Whether the issues of a form are those of something that means to be of another type. */
const isAlien = (issues: readonly Issue[]): boolean =>
  issues.some((issue) => told(issue).path.at(-1) === "type");

/** How near a value comes to a form, by its issues: another kind of value altogether, another type, or a wrong part. */
const depthOf = (issues: readonly Issue[]): number => {
  const depth = Math.max(...issues.map((issue) => told(issue).path.length));
  return depth === 0 ? -2 : isAlien(issues) ? -1 / depth : depth;
};

/** The issue that says most: of a union, the first one of the form that what was given comes nearest to. */
const told = (issue: Issue): Told => {
  const forms = issue.code === "invalid_union" ? issue.errors.filter((issues) => issues.length > 0) : [];
  const [first, ...others] = forms;
  if (first === undefined) return { path: issue.path, message: issue.message };
  const nearest = others.reduce((best, form) => (depthOf(form) > depthOf(best) ? form : best), first);
  const inner = told(nearest[0] as Issue);
  return { path: [...issue.path, ...inner.path], message: inner.message };
};

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");

const hasCalls = (value: object): boolean => {
  const { tool_calls: calls } = value as { tool_calls?: unknown };
  return Array.isArray(calls) && calls.length > 0;
};

/** The schema of the form that a value means to have, told from its role. */
const formOf = (value: object, role: unknown): z.ZodType | undefined => {
  switch (role) {
    case "system":
      return SystemMessageSchema;
    case "user":
      return UserMessageSchema;
    case "assistant":
      return hasCalls(value) ? CallingMessageSchema : SayingMessageSchema;
    case "tool":
      return ToolMessageSchema;
    default:
      return undefined;
  }
};

/**
 * Says in one line what keeps a value from being a chat message, for whoever wrote it: `message.content[0].text: …`.
 * Undefined for a message. The content of the value is not in the line.
 */
export const chatMessageProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return "message: expected an object";
  const form = formOf(value, value.role);
  if (form === undefined) return "message.role: expected system, user, assistant or tool";
  const issue = form.safeParse(value).error?.issues[0];
  if (issue === undefined) return undefined;
  const { path, message } = told(issue);
  return `message${pathText(path)}: ${message}`;
};
