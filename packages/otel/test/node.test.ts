import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("fixtures/traced-program.mjs", import.meta.url));

/** What a process with these arguments exports. */
const exportedBy = async (...given: readonly string[]): Promise<string> => {
  const bodies: Buffer[] = [];
  const collector = createServer(async (request, response) => {
    for await (const chunk of request) bodies.push(chunk as Buffer);
    response.end();
  });
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => {
    collector.closeAllConnections();
    collector.close();
  });
  const child = spawn(process.execPath, [program, ...given], {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` },
    stdio: "inherit",
  });
  expect(await once(child, "exit")).toEqual([0, null]);
  const exported = Buffer.concat(bodies).toString("latin1");
  for (const known of ["a span", "a-service", "process.pid", "host.name"]) expect(exported).toContain(known);
  return exported;
};

test("the SDK that is started here exports the arguments of the process, such as a prompt, only with content", async () => {
  expect(await exportedBy("a prompt with a secret")).not.toContain("a prompt with a secret");
  expect(await exportedBy("a prompt with a secret", "--content")).toContain("a prompt with a secret");
});
