import type { HubMethodParams, HubMethodResult } from "@harnesskit/protocol/hub";
import { useEffect } from "preact/hooks";
import { type Loaded, useLoaded } from "../pages/use-loaded.ts";
import type { HubLink } from "../state/hub-link.ts";

/** How often it is counted again while it is looked at. */
const refreshMs = 15_000;

/** What `activity.list` counts, by this browser's clock. */
export const useActivity = (
  link: HubLink,
  params: Omit<HubMethodParams<"activity.list">, "utcOffsetMinutes">,
): Loaded<HubMethodResult<"activity.list">> => {
  const loaded = useLoaded(link, () =>
    link.client.call("activity.list", { ...params, utcOffsetMinutes: -new Date().getTimezoneOffset() }),
  );
  const asked = JSON.stringify(params);
  useEffect(() => {
    if (link.state.value === "ready") loaded.reload();
    const timer = setInterval(
      () => !document.hidden && link.state.value === "ready" && loaded.reload(),
      refreshMs,
    );
    return () => clearInterval(timer);
  }, [asked]);
  return loaded;
};
