import { isPlainObject } from "@harnesskit/wire/json";
import { toText } from "../link/link.ts";
import { mergeDeep } from "../match/scope.ts";
import { linkOf } from "./message-steps.ts";
import type { DoStep } from "./step-context.ts";

const requestIdOf = (value: unknown): unknown =>
  isPlainObject(value) ? (value as Record<string, unknown>).request_id : undefined;

/** Takes the answer with the request's id, or one that has none, which its check then finds. */
export const ask: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  const merged = mergeDeep(context.scope.get("request"), ready.step.ask);
  const needsId = isPlainObject(merged) && !("request_id" in merged);
  const message = needsId ? { ...merged, request_id: context.nextId() } : merged;
  const id = requestIdOf(message);
  context.note(`> ${toText(message)}`);
  await link.send(message);
  const isAnswer = (value: unknown) =>
    typeof id !== "string" || requestIdOf(value) === id || (requestIdOf(value) ?? null) === null;
  return await link.inbox.take(isAnswer, `the answer to ${String(id)}`, ready);
};
