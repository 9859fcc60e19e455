import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createExampleEngine } from "./engine.mjs";
import { servePage } from "./page-files.mjs";
import { enginePath, startWebServer } from "./web-server.mjs";

// PORT: where it listens. ENGINE: the URL of an engine of another origin, which the link then names.
const { PORT = "0", ENGINE } = process.env;
const token = randomBytes(24).toString("base64url");
const page = await servePage(fileURLToPath(new URL("dist", import.meta.url)), {
  engineOrigins: ENGINE === undefined ? [] : [new URL(ENGINE).origin],
});
const origin = await startWebServer({ engine: createExampleEngine(), page, token, port: Number(PORT) });
const link =
  ENGINE === undefined ? `engine=${enginePath}&token=${token}` : `engine=${encodeURIComponent(ENGINE)}`;
process.stdout.write(`${origin}/#${link}\n`);
