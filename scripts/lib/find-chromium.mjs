import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The programs that are taken for Chromium, the first that is there. */
export const chromiumNames = ["chromium", "chromium-browser", "google-chrome"];

/** How to launch the browser of this machine with Playwright; undefined where the PATH has none. */
export const findChromium = () => {
  const executablePath = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((directory) => chromiumNames.map((name) => join(directory, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  // Chromium has no sandbox for root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return executablePath === undefined ? undefined : { executablePath, args };
};
