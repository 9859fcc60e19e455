import { handledLevel } from "@harnesskit/approvals";
import { type RiskLevel, RiskLevelSchema } from "@harnesskit/protocol/hub";
import * as z from "zod";

const TimeSchema = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

const isZone = (timeZone: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).format(0) !== "";
  } catch {
    return false;
  }
};

/** From `from` to `to`, over midnight where `to` is earlier, and a whole day where it is the same. `except`: risks that are sent all the same. */
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

/** By zone: making one is much of the cost. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  });
  formats.set(timeZone, made);
  return made;
};

/** The weekday and the minute of the day at a place. */
const localTime = (atMs: number, timeZone: string): { readonly day: string; readonly minute: number } => {
  const parts = formatOf(timeZone).formatToParts(atMs);
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
  if (start < end) return minute >= start && minute < end && isDay(day);
  return (minute >= start && isDay(day)) || (minute < end && isDay(dayBefore(day)));
};

/** The first minute of the next week that is not quiet, or the end of that week. Periods begin and end with a minute. */
const endOfQuiet = (hours: readonly QuietHours[], atMs: number): number => {
  let ms = atMs - (atMs % minuteMs) + minuteMs;
  const lastMs = ms + 7 * 86_400_000;
  while (ms < lastMs && hours.some((each) => isQuiet(each, ms))) ms += minuteMs;
  return ms;
};

/** Whether a list of risks has a risk; one that is not known is also as high. */
export const hasRisk = (list: readonly RiskLevel[], risk: RiskLevel): boolean =>
  list.some((each) => each === risk || each === handledLevel(risk));

/**
 * When a notice of a risk may be sent: the given time, or the end of the quiet hours that it falls into. Looks a week ahead; where
 * all of it is quiet, that is the end of the week. The period that was found last is kept by risk: many questions of one night cost one search.
 */
export const createLoudFrom = (quiet: readonly QuietHours[]) => {
  const known = new Map<string, { readonly fromMs: number; readonly toMs: number }>();
  return (risk: RiskLevel, atMs: number): number => {
    const found = known.get(risk);
    if (found !== undefined && atMs >= found.fromMs && atMs < found.toMs) return found.toMs;
    const hours = quiet.filter(({ except }) => !hasRisk(except, risk));
    if (!hours.some((each) => isQuiet(each, atMs))) return atMs;
    const toMs = endOfQuiet(hours, atMs);
    known.set(risk, { fromMs: atMs, toMs });
    return toMs;
  };
};
