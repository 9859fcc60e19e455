import { readFileSync } from "node:fs";
import { parse } from "yaml";
import * as z from "zod";
import { TransportSchema } from "../../src/scenario/step-schema.ts";

const ids = z.string().transform((text) => text.split(" ").filter(Boolean));

const ChangeSchema = z.strictObject({
  /** What the target seems to do. */
  name: z.string(),
  /** The checks that must notice it. */
  fails: ids,
  on: TransportSchema.exclude(["stdio"]).default("unix"),
  /** Whose messages are changed: those of the target (default), of the suite, or the outcomes of the target's driver. */
  side: z.enum(["target", "suite", "driver"]).default("target"),
  /** Which messages: a matcher. */
  of: z.unknown().optional(),
  /** Which request they answer: a matcher. */
  to: z.unknown().optional(),
  /** Only the nth of them on a connection, counted from 1. */
  nth: z.number().int().positive().optional(),
  /** All but the first so many of them on a connection. */
  after: z.number().int().positive().optional(),
  /** Only on the connection of this number, counted from 1. */
  connection: z.number().int().positive().optional(),
  /** Only once the target was started again. */
  restarted: z.literal(true).optional(),
  drop: z.literal(true).optional(),
  repeat: z.literal(true).optional(),
  /** Milliseconds. */
  delay: z.number().int().positive().optional(),
  /** Holds it until the next message has passed. */
  reorder: z.literal(true).optional(),
  /** The members by their path; `${request.…}`, `${message.…}` and `${earlier.OPERATION.…}` are those of the request, the message and a driver. */
  set: z.record(z.string(), z.unknown()).optional(),
  remove: z.array(z.string()).optional(),
  /** What is sent instead. */
  put: z.unknown().optional(),
  /** Messages that follow it, to its own receiver. */
  also: z.array(z.unknown()).optional(),
  /** Messages that go back to its sender. */
  back: z.array(z.unknown()).optional(),
  /** Does not pass the end of the connection on. */
  keepOpen: z.literal(true).optional(),
  /** Text that is replaced in the bytes of the side. */
  bytes: z.tuple([z.string(), z.string()]).optional(),
  /** Text that is written before the first message. */
  noise: z.string().optional(),
  /** Closes the connection in the place of the message. */
  close: z.literal(true).optional(),
});

/** One rule of the proxy: what it changes, and which checks must notice it. */
export type Change = z.infer<typeof ChangeSchema>;

const FileSchema = z.strictObject({
  changes: z.array(ChangeSchema),
  /** Checks that no change of messages fails, each with the reason. */
  unseen: z.record(z.string(), z.string()).default({}),
});

/** The changes of `changes/SUITE.yaml`. */
export const readChanges = (suite: string): z.infer<typeof FileSchema> =>
  FileSchema.parse(parse(readFileSync(new URL(`../../changes/${suite}.yaml`, import.meta.url), "utf8")));
