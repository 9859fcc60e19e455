import type { HubMethodParams } from "@harnesskit/protocol/hub";
import { useRead } from "../state/use-read.ts";

/** How often it is counted again while it is looked at. */
const everyMs = 15_000;

/** What `activity.list` counts, by this browser's clock. */
export const useActivity = (params: Omit<HubMethodParams<"activity.list">, "utcOffsetMinutes">) => {
  const utcOffsetMinutes = -new Date().getTimezoneOffset();
  return useRead((client) => client.call("activity.list", { ...params, utcOffsetMinutes }), {
    key: JSON.stringify(params),
    everyMs,
  });
};
