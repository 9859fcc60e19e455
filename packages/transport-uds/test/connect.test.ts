import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { RequestCancelledError, TransportError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { linkedModule } from "../../../scripts/lib/test-kit.ts";
import { createTcpTransport, createUnixTransport } from "../src/index.ts";
import { isOwnEcho } from "../src/loopback.ts";
import { leaveStaleSocket, plainServer, rejection, temporaryDirectory } from "./support.ts";

describe("a socket that cannot be reached", () => {
  it("is named, with what to do", async () => {
    await using directory = await temporaryDirectory();
    const missing = join(directory.path, "missing");
    const file = join(directory.path, "file");
    const stale = join(directory.path, "stale");
    await writeFile(file, "");
    await leaveStaleSocket(stale);
    const sentences = {
      [missing]: `the socket ${missing} does not exist: start its server or pass the path where it listens`,
      [file]: `the socket ${file} is a file of another kind: pass the path where the server listens`,
      [stale]: `the socket ${stale} is left over from a server that is gone: start the server again`,
      [join(file, "s")]: `the socket ${join(file, "s")} cannot be reached (ENOTDIR)`,
    };
    for (const [path, sentence] of Object.entries(sentences)) {
      const error = await rejection(createUnixTransport({ path }).connect());
      expect(error).toBeInstanceOf(TransportError);
      expect(error).toMatchObject({ code: "transport_failed", message: sentence });
      expect(error.cause).toHaveProperty("code");
    }
  });

  it("is named for TCP too", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, "close");
    const error = await rejection(createTcpTransport({ port }).connect());
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({
      code: "transport_failed",
      message: `nothing listens on tcp:127.0.0.1:${port}: start the server or pass its port`,
    });
  });

  it("leaves the modules that are loaded afterwards alone", async () => {
    await using directory = await temporaryDirectory();
    const stale = join(directory.path, "stale");
    await leaveStaleSocket(stale);
    const load = await linkedModule(directory.path);
    const error = await rejection(createUnixTransport({ path: stale }).connect());
    expect(error).toMatchObject({ code: "transport_failed" });
    expect(load()).toBe("found");
  });
});

describe("connecting", () => {
  it("is given up by its signal, before and meanwhile, and leaves no socket and no listener", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const server = await plainServer(path);
    const transport = createUnixTransport({ path });
    const reason = new TransportError("given up by the test");
    const early = await rejection(transport.connect({ signal: AbortSignal.abort(reason) }));
    expect(early).toBeInstanceOf(RequestCancelledError);
    expect(early).toMatchObject({ code: "request_cancelled", cause: reason });

    const controller = new AbortController();
    const late = rejection(transport.connect({ signal: controller.signal }));
    controller.abort(reason);
    expect(await late).toBeInstanceOf(RequestCancelledError);
    expect(await late).toMatchObject({ code: "request_cancelled", cause: reason });
    // Only settles when no connection is left.
    server.close();
    await once(server, "close");
  });

  it("ends with its time", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "s");
    const server = await plainServer(path);
    const clock = createManualClock();
    const pending = rejection(createUnixTransport({ path, connectTimeoutMs: 300, clock }).connect());
    clock.advance(300);
    expect(await pending).toBeInstanceOf(TransportError);
    expect(await pending).toMatchObject({
      code: "transport_failed",
      message: `unix:${path} did not answer within 300 ms: is its server stuck?`,
    });
    server.close();
    await once(server, "close");
  });

  it("notices a TCP connection of a socket with itself", async () => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as { port: number };
    const ordinary = connect({ port, host: "127.0.0.1" });
    await once(ordinary, "connect");
    expect(isOwnEcho(ordinary)).toBe(false);
    ordinary.destroy();
    probe.close();
    await once(probe, "close");

    const echo = connect({ port, localPort: port, host: "127.0.0.1" });
    const outcome = await once(echo, "connect").then(
      () => "itself",
      () => "refused",
    );
    expect(isOwnEcho(echo)).toBe(outcome === "itself");
    echo.destroy();
  });
});
