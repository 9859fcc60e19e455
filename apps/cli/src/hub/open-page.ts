import { spawn } from "node:child_process";
import { once } from "node:events";
import type { HubPlace } from "@harnesskit/hub/place";
import { readOwnFile } from "@harnesskit/node-kit";
import { hubPaths, SocketTicketSchema } from "@harnesskit/protocol/hub";
import { unavailableError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { findHub } from "./find-hub.ts";

const programs: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** What is said of a browser that was started. */
export const browserText = "a browser was started with this link; if none comes up, open the link yourself";

/** Whether a browser can be shown here. */
const hasDisplay = (env: NodeJS.ProcessEnv): boolean =>
  process.platform !== "linux" || [env.DISPLAY, env.WAYLAND_DISPLAY].some((display) => display);

/**
 * Starts the user's browser with a page. Resolves with false where that cannot be done; whether the page opens is not known. The address is seen by other programs of this
 * machine: it must hold nothing that is valid twice.
 */
export const openBrowser = (url: string, env: NodeJS.ProcessEnv = io().env): Promise<boolean> => {
  const own = env.BROWSER === undefined || env.BROWSER === "" ? undefined : [env.BROWSER];
  if (own === undefined && !hasDisplay(env)) return Promise.resolve(false);
  const [command = "xdg-open", ...args] = own ?? programs[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.unref();
  return once(child, "spawn").then(
    () => true,
    () => false,
  );
};

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
      hint: { to: "End it, and start it again", run: "harness hub --open" },
      cause,
    });
  });
  createTerminal().exact(link);
  if (await openBrowser(link)) createTerminal(io().stderr).say(`harness hub: ${browserText}`);
  return true;
};
