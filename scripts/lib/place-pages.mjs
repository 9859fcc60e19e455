import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Built pages, and the folder of the package that ships each of them. */
const pages = [
  { built: "apps/hub-web/dist", shipped: "packages/hub/page" },
  { built: "apps/examples/web-shell/dist", shipped: "apps/cli/page" },
];

/** Puts each built page where its package ships it from. A page may be built after the package that it is a client of. */
export function placePages(root) {
  for (const { built, shipped } of pages) {
    rmSync(join(root, shipped), { recursive: true, force: true });
    cpSync(join(root, built), join(root, shipped), { recursive: true });
  }
}
