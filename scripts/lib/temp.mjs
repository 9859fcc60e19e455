import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname } from "node:path";

const created = new Set();
const remove = (dir) => {
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  created.delete(dir);
};

process.once("exit", () => {
  for (const dir of created) remove(dir);
});

/** Makes a new folder whose name starts with `prefix` (a path), hands it to `use`, and removes it whatever happens. */
export async function withTempDir(prefix, use) {
  mkdirSync(dirname(prefix), { recursive: true });
  const dir = mkdtempSync(prefix);
  created.add(dir);
  try {
    return await use(dir);
  } finally {
    remove(dir);
  }
}
