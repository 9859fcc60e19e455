import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as z from "zod";

const EchoRequestSchema = z.object({ method: z.literal("echo"), params: z.looseObject({}) });

const server = new Server({ name: "echo", version: "1.0.0" }, { capabilities: {} });
server.setRequestHandler(EchoRequestSchema, ({ params }) => params);
await server.connect(new StdioServerTransport());
