import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";

/** A hub as one program that `node` runs. */
export const bundleHub = () => sourceBundle(new URL("../fixtures/hub-program.ts", import.meta.url));

/** A hub in a process of its own, with its state in a directory. */
export const startHub = async (program: string, state: string, page: string) => {
  const child = spawn(process.execPath, [program, state, page], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const [link] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    closed.then(() => {
      throw new ReferenceError("the hub ended before it was ready");
    }),
  ]);
  return {
    link: String(link),
    /** With -9: nothing is closed or written before. Idempotent. */
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
};
