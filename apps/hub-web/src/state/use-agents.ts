import type { HubMethodParams } from "@harnesskit/protocol/hub";
import { useRead } from "./use-read.ts";

/** The agents that have spoken to the hub, those seen last first. */
export const useAgents = () => useRead((client) => client.call("agents.list"), { everyMs: 4000 });

/** What `activity.list` counts, by this browser's clock. */
export const useActivity = (params: Omit<HubMethodParams<"activity.list">, "utcOffsetMinutes">) => {
  const utcOffsetMinutes = -new Date().getTimezoneOffset();
  return useRead((client) => client.call("activity.list", { ...params, utcOffsetMinutes }), {
    key: JSON.stringify(params),
    everyMs: 15_000,
  });
};
