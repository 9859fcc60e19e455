import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createExampleEngine } from "./engine.mjs";
import { servePage } from "./page-files.mjs";
import { enginePath, startWebServer } from "./web-server.mjs";

// PORT: where it listens. ENGINE and TOKEN_FILE: the URL of another engine, and its token; the link then names that one.
const { PORT = "0", ENGINE, TOKEN_FILE } = process.env;
const token = randomBytes(24).toString("base64url");
const page = await servePage(fileURLToPath(new URL("dist", import.meta.url)), {
  engineOrigins: ENGINE === undefined ? [] : [new URL(ENGINE).origin],
});
const origin = await startWebServer({ engine: createExampleEngine(), page, token, port: Number(PORT) });
const shown = TOKEN_FILE === undefined ? token : (await readFile(TOKEN_FILE, "utf8")).trim();
const link = new URLSearchParams({ engine: ENGINE ?? enginePath });
if (ENGINE === undefined || TOKEN_FILE !== undefined) link.set("token", shown);
process.stdout.write(`${origin}/#${link}\n`);
