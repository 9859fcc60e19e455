import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, unlink } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TransportName } from "../scenario/step-schema.ts";
import type { TargetPlace } from "./target-spec.ts";

const socketName = "target.sock";

/** A folder of a scenario. */
export interface ScenarioFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a private folder for one scenario. */
export const createFolder = async (): Promise<ScenarioFolder> => {
  const path = await mkdtemp(join(tmpdir(), "conformance-"));
  const remove = async () => {
    // After a look at a socket, as `rm` takes it, Node does not find what modules behind links need.
    await unlink(join(path, socketName)).catch(() => {});
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  };
  return { path, remove };
};

/**
 * A port of loopback that is free now. It is below those that systems give to outgoing connections and to port 0, so that no other
 * program gets it before the target listens, and none that browsers and `fetch` refuse.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(12_000, 32_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      await once(server.close(), "close");
      return port;
    } catch (error) {
      if (attempt === 100) throw error;
    }
  }
};

const endpointOf = async (transport: TransportName, folder: string, path: string): Promise<string> => {
  if (transport === "stdio") return "stdio:";
  if (transport === "unix") return `unix:${join(folder, socketName)}`;
  const address = `127.0.0.1:${await freePort()}`;
  return transport === "tcp" ? `tcp:${address}` : `${transport}://${address}${path}`;
};

/** Where a target that the suite starts is to listen. */
export const createPlace = async (
  transport: TransportName,
  folder: string,
  path: string,
  token: string,
): Promise<TargetPlace> => ({
  endpoint: await endpointOf(transport, folder, path),
  directory: folder,
  token,
});
