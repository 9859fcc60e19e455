import { RiskLevelSchema } from "@harnesskit/protocol/hub";
import * as z from "zod";

const TimeSchema = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

const isZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).format(0) !== "";
  } catch {
    return false;
  }
};

/** From `from` to `to`, over midnight where `to` is earlier. `except`: risks that are sent all the same. */
export const QuietHoursSchema = z.strictObject({
  from: TimeSchema,
  to: TimeSchema,
  /** An IANA name. @default UTC */
  zone: z.string().refine(isZone, "must be a time zone such as Europe/Berlin").default("UTC"),
  /** @default every day */
  days: z
    .array(z.enum(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]))
    .min(1)
    .optional(),
  except: z.array(RiskLevelSchema).default(["critical"]),
});
export type QuietHours = z.output<typeof QuietHoursSchema>;

const minuteMs = 60_000;

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** The weekday and the minute of the day at a place. */
const localTime = (atMs: number, timeZone: string): { readonly day: string; readonly minute: number } => {
  const parts = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  }).formatToParts(atMs);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  return { day: part("weekday").toLowerCase(), minute: Number(part("hour")) * 60 + Number(part("minute")) };
};

const dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const dayBefore = (day: string): string => dayNames[(dayNames.indexOf(day) + 6) % 7] as string;

/** Whether a time is quiet. The days of a period over midnight are those on which it begins. */
const isQuiet = ({ from, to, zone, days }: QuietHours, atMs: number): boolean => {
  const { day, minute } = localTime(atMs, zone);
  const [start, end] = [minuteOf(from), minuteOf(to)];
  const isDay = (name: string) => days === undefined || days.some((each) => each === name);
  if (start <= end) return minute >= start && minute < end && isDay(day);
  return (minute >= start && isDay(day)) || (minute < end && isDay(dayBefore(day)));
};

/**
 * When a notice of this risk may be sent: `atMs`, or the end of the quiet hours it falls into. Looks a week ahead; where all of it
 * is quiet, that is the end of the week.
 */
export const loudFrom = (quiet: readonly QuietHours[], risk: string, atMs: number): number => {
  const hours = quiet.filter(({ except }) => !except.some((each) => each === risk));
  if (!hours.some((each) => isQuiet(each, atMs))) return atMs;
  // Periods begin and end with a minute, and zones change their offset with one.
  let ms = atMs - (atMs % minuteMs) + minuteMs;
  const lastMs = ms + 7 * 86_400_000;
  while (ms < lastMs && hours.some((each) => isQuiet(each, ms))) ms += minuteMs;
  return ms;
};
