import { spawn } from "node:child_process";
import { once } from "node:events";
import { io } from "../io.ts";

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
