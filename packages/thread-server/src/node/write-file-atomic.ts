import { open, rename, rm } from "node:fs/promises";
import { randomId } from "@harnesskit/wire";

/** Replaces a file as a whole: whoever reads sees the old text or the new one, also after a crash. Mode 0600. */
export const writeFileAtomic = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}.${randomId("tmp")}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};
