import type { TransportName } from "../src/scenario/step-schema.ts";
import type { Answer, HarnessDeviation, Request } from "./reference-harness.ts";

/** A harness with one deviation, and the requirements of which at least each has a check that notices it. */
export interface HarnessMutant extends HarnessDeviation {
  readonly name: string;
  readonly kills: readonly string[];
  readonly transport?: Exclude<TransportName, "stdio">;
}

export const skip = (rule: string, ...kills: string[]): HarnessMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});

export const serve = (
  how: string,
  transport: HarnessMutant["transport"],
  ...kills: string[]
): HarnessMutant => ({
  name: `${transport} ${how}`,
  kills,
  serve: how,
  ...(transport === undefined ? {} : { transport }),
});

export const answer = (
  name: string,
  change: NonNullable<HarnessDeviation["answer"]>,
  ...kills: string[]
): HarnessMutant => ({
  name: `answers ${name}`,
  kills,
  answer: change,
});

export const read = (
  name: string,
  change: NonNullable<HarnessDeviation["read"]>,
  ...kills: string[]
): HarnessMutant => ({
  name: `reads ${name}`,
  kills,
  read: change,
});

export const withResult =
  (change: (result: Answer, request: Request) => unknown) => (reply: Answer, request: Request) =>
    reply.result === undefined ? reply : { ...reply, result: change(reply.result, request) };

export const withHello = (change: (result: Answer) => unknown) =>
  withResult((result, request) => (request?.method === "ahp/handshake" ? change(result) : result));

export const withError = (change: (error: Answer) => unknown) => (reply: Answer) =>
  reply.error === undefined ? reply : { ...reply, error: change(reply.error) };

export const withBatch = (change: (decisions: Answer[]) => unknown) =>
  withResult((result, request) =>
    request?.method === "ahp/batch" ? { ...result, decisions: change(result.decisions) } : result,
  );

export const recode = (from: number, to: number) =>
  withError((error) => (error.code === from ? { ...error, code: to } : error));

export const without = (value: Request, ...names: string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !names.includes(key)));

export const eventOf = (change: (event: Request) => Request) => (message: Request) =>
  message?.method === "ahp/event" && typeof message.params === "object"
    ? { ...message, params: change(message.params) }
    : message;

/** Refuses events of which something holds, as if their params were not valid. */
export const refusing = (isRefused: (event: Request) => boolean) =>
  eventOf((event) => (isRefused(event) ? { ...event, timestamp: 0 } : event));

export const refusesPayload = (type: string, isRefused: (payload: Request) => boolean) =>
  refusing((event) => event?.event_type === type && isRefused(event.payload ?? {}));

export const decides = (decision: string, change: (value: Answer) => unknown) =>
  withResult((result) => (result?.decision === decision ? change(result) : result));
