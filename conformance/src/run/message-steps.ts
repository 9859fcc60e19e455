import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "@harnesskit/wire/json";
import { ConformanceError, Unmet } from "../errors.ts";
import { type Link, type RawReply, toText } from "../link/link.ts";
import { match } from "../match/match.ts";
import type { RawPart } from "../scenario/step-schema.ts";
import type { DoStep, ReadyStep, StepContext } from "./step-context.ts";

/** The connection of a step; a server's first one is opened, a client's first one is waited for. */
export const linkOf = async (ready: ReadyStep, context: StepContext, name = ready.link): Promise<Link> => {
  const open = context.links.get(name);
  if (open !== undefined) return open;
  const link =
    context.server === undefined
      ? (await context.client?.accept(Math.max(ready.within, context.waitOf(name))))?.link
      : await context.server.open("valid");
  if (link === undefined) throw new ConformanceError("unavailable", "the target has no connection");
  context.links.set(name, link);
  return link;
};

const isMember = (value: unknown, key: string): boolean => isPlainObject(value) && key in value;

const memberOf = (value: unknown, key: string): unknown =>
  isPlainObject(value) ? (value as Record<string, unknown>)[key] : undefined;

export const send: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  context.note(`> ${toText(ready.step.send)}`);
  await link.send(ready.step.send);
  return ready.step.send;
};

export const call: DoStep = async (ready, context) => {
  const { step } = ready;
  const link = await linkOf(ready, context);
  const id = "id" in step ? step.id : context.nextId();
  const params = "params" in step ? { params: step.params } : {};
  const request = { jsonrpc: "2.0", id, method: step.call, ...params };
  context.note(`> ${toText(request)}`);
  await link.send(request);
  const isAnswer = (value: unknown) =>
    !isMember(value, "method") && isMember(value, "id") && isDeepStrictEqual(memberOf(value, "id"), id);
  return await link.inbox.take(isAnswer, `the answer to ${String(step.call)}`, ready);
};

export const notify: DoStep = async (ready, context) => {
  const { step } = ready;
  const params = "params" in step ? { params: step.params } : {};
  const message = { jsonrpc: "2.0", method: step.notify, ...params };
  context.note(`> ${toText(message)}`);
  await (await linkOf(ready, context)).send(message);
  return true;
};

export const receive: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  const { receive: matcher } = ready.step;
  const isWanted = (value: unknown) => match(value, matcher, context.named) === undefined;
  const value = await link.inbox.take(isWanted, `a message like ${toText(matcher)}`, ready);
  const facts = context.facts.get(value);
  if (ready.as !== undefined && facts !== undefined) context.scope.set(`${ready.as}_http`, facts);
  return value;
};

export const gather: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  const { gather: matcher } = ready.step;
  const isLast = (value: unknown) => match(value, matcher, context.named) === undefined;
  return await link.inbox.gather(isLast, `a message like ${toText(matcher)}`, ready);
};

export const none: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  const { none: matcher, within } = ready.step;
  const isUnwanted = (value: unknown) => match(value, matcher, context.named) === undefined;
  const found =
    typeof within === "number"
      ? await link.inbox.watch(isUnwanted, within)
      : link.inbox.messages.find(({ value, taken }) => !taken && isUnwanted(value));
  if (found !== undefined)
    throw new Unmet(`there was a message that should not have come: ${toText(found.value)}`);
  return true;
};

export const reply: DoStep = async (ready, context) => {
  const { step } = ready;
  const link = await linkOf(ready, context);
  const answerWith = async (answer: { message: unknown } | RawReply): Promise<boolean> => {
    context.note(`> ${toText(answer)}`);
    await link.reply(step.reply, answer);
    return true;
  };
  if (step.drop === true || step.body !== undefined || step.status !== undefined) {
    const { body, status, drop } = step as RawReply;
    return await answerWith({ body, status, drop });
  }
  if ("message" in step) return await answerWith({ message: step.message });
  const content = "error" in step ? { error: step.error } : { result: step.result };
  return await answerWith({ message: { jsonrpc: "2.0", id: memberOf(step.reply, "id"), ...content } });
};

const bytesOf = (part: RawPart, link: Link): Uint8Array => {
  if (typeof part === "string") return Buffer.from(part);
  if ("hex" in part) return Buffer.from(part.hex, "hex");
  if ("repeat" in part) return Buffer.from(part.repeat.repeat(part.times));
  if ("frame" in part) return link.frame(toText(part.frame));
  const content = part.frameText;
  return link.frame(typeof content === "string" ? content : Buffer.from(content.hex, "hex"));
};

const chopped = (bytes: Uint8Array, size: number): Uint8Array[] => {
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
  return chunks;
};

export const raw: DoStep = async (ready, context) => {
  const link = await linkOf(ready, context);
  const parts = ready.step.raw as RawPart[];
  const bytes = Buffer.concat(parts.map((part) => bytesOf(part, link)));
  const shown = bytes.subarray(0, context.limits.maxShownLength).toString("utf8");
  context.note(`> ${bytes.length} bytes: ${shown}`);
  const { chop } = ready.step;
  if (typeof chop === "number") await link.write(chopped(bytes, chop));
  else await link.write([bytes]);
  return true;
};
