import type { HubPlace } from "@harnesskit/hub/place";
import { readOwnFile } from "@harnesskit/node-kit";
import { hubPaths, SocketTicketSchema } from "@harnesskit/protocol/hub";
import { unavailableError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { findHub } from "./find-hub.ts";
import { browserText, openBrowser } from "./open-browser.ts";

const maxFileBytes = 4096;

const linkOf = async ({ serverFile, tokenFile }: HubPlace): Promise<string> => {
  const [server, token] = await Promise.all(
    [serverFile, tokenFile].map(async (file) =>
      (await readOwnFile(file, { maxBytes: maxFileBytes })).toString("utf8"),
    ),
  );
  const { url } = JSON.parse(server ?? "") as { url: string };
  const response = await fetch(new URL(hubPaths.open, url), {
    method: "POST",
    headers: { authorization: `Bearer ${(token ?? "").trim()}` },
  });
  return `${url}/#ticket=${SocketTicketSchema.parse(await response.json()).ticket}`;
};

/**
 * Opens the page of a hub that runs already, or writes its link. Resolves with false where none runs. Rejects with a `CliError`
 * `hub_unavailable` for one that gives no link.
 */
export const openRunningHub = async (place: HubPlace): Promise<boolean> => {
  if ((await findHub(place.directory)) === undefined) return false;
  const link = await linkOf(place).catch((cause: unknown) => {
    throw unavailableError("hub_unavailable", "a hub runs, and gives no link to its page", {
      hint: "End it, and start it again: harness hub --open",
      cause,
    });
  });
  createTerminal().exact(link);
  if (await openBrowser(link)) createTerminal(io().stderr).say(`harness hub: ${browserText}`);
  return true;
};
