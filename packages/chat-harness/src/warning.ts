import { warnPlatform } from "@harnesskit/wire";

/** Something that went wrong beside a turn and does not change its outcome. */
export interface ChatHarnessWarning {
  readonly kind: "listener_failed" | "delivery_failed" | "recovery_failed" | "report_failed";
  readonly message: string;
  readonly cause?: unknown;
}

/** Told of warnings. What it throws is ignored. */
export type OnWarning = (warning: ChatHarnessWarning) => void;

/** The text of whatever was thrown. Never throws. */
export const messageOf = (error: unknown): string => {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "something that is no error";
  const text = partOf(error, "message");
  return typeof text === "string" ? text : "an error without a text";
};

/** A property of something that was thrown; undefined also where it cannot be read. */
export const partOf = (thrown: unknown, name: string): unknown => {
  try {
    return (thrown as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
};

/** Where warnings go when nobody asks for them. */
export const platformWarning: OnWarning = (warning) => warnPlatform("ChatHarnessWarning", warning);
