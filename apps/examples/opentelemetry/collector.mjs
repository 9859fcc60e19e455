import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const maxBytes = 16 * 1024 * 1024;

/**
 * A collector for development: takes OTLP over HTTP as JSON, and appends each request to a file, one line each. Serves the loopback
 * interface only. Resolves with the address for `OTEL_EXPORTER_OTLP_ENDPOINT`.
 */
export const startCollector = (file, port = 0) =>
  new Promise((resolve, reject) => {
    const server = createServer(async (request, response) => {
      const chunks = [];
      let bytes = 0;
      for await (const chunk of request) {
        bytes += chunk.length;
        if (bytes > maxBytes) return response.writeHead(413).end();
        chunks.push(chunk);
      }
      const isOtlp = request.method === "POST" && /^\/v1\/(?:traces|metrics|logs)$/.test(request.url);
      const isJson = request.headers["content-type"]?.startsWith("application/json");
      if (!isOtlp) return response.writeHead(404).end();
      // The SDK's default is protobuf.
      if (!isJson) return response.writeHead(415).end("set OTEL_EXPORTER_OTLP_PROTOCOL=http/json");
      try {
        appendFileSync(file, `${JSON.stringify(JSON.parse(Buffer.concat(chunks)))}\n`);
      } catch {
        return response.writeHead(400).end();
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const close = () =>
        new Promise((closed) => {
          server.close(closed);
          server.closeAllConnections();
        });
      resolve({ endpoint: `http://127.0.0.1:${server.address().port}`, close });
    });
  });

if (process.argv[1] === import.meta.filename) {
  const [file = "telemetry.jsonl", port = "4318"] = process.argv.slice(2);
  const { endpoint } = await startCollector(file, Number(port));
  console.log(`OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint} OTEL_EXPORTER_OTLP_PROTOCOL=http/json → ${file}`);
}
