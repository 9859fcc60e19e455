import { AsyncLocalStorage } from "node:async_hooks";
import { ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import type { AuthenticationRequest } from "../src/index.ts";
import { post, rawClient, startServer } from "./support.ts";

describe("many requests at one time", () => {
  const startCounting = async () => {
    const handled: unknown[] = [];
    const handle = async (message: unknown) => {
      handled.push(message);
      return message;
    };
    const { port, close } = await startServer({ routes: { "/ahp": { handle } } });
    onTestFinished(close);
    return { handled, port };
  };

  it("are answered in their order on one connection, and all of them", async () => {
    const { handled, port } = await startCounting();
    using client = await rawClient(port);
    const names = Array.from({ length: 100 }, (_, index) => index);
    client.write(names.map((name) => post(port, `{"name":${name}}`)).join(""));
    await until(() => client.text().split("HTTP/1.1 200").length > names.length);
    expect([...client.text().matchAll(/\{"name":(\d+)\}/g)].map(([, name]) => Number(name))).toEqual(names);
    expect(handled).toHaveLength(names.length);
  });

  it("are answered although their sender ends its side behind them, each on its connection or all on one", async () => {
    const { handled, port } = await startCounting();
    const clients = await Promise.all(Array.from({ length: 100 }, () => rawClient(port)));
    for (const [name, { socket }] of clients.entries()) socket.end(post(port, `{"name":${name}}`));
    await until(() => clients.every(({ closed, ended }) => closed || ended));
    for (const [name, client] of clients.entries()) {
      expect(client.text()).toContain(`{"name":${name}}`);
      client.socket.destroy();
    }
    using client = await rawClient(port);
    client.socket.end(Array.from({ length: 50 }, (_, name) => post(port, `{"name":${name}}`)).join(""));
    await client.untilGone();
    expect(client.text().split("HTTP/1.1 200")).toHaveLength(51);
    expect(handled).toHaveLength(150);
  });

  it("are handled although their sender is gone, and their handlers learn that it is", async () => {
    const gone: string[] = [];
    const handle = (_message: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          gone.push(signal.aborted ? "told" : "untold");
          resolve(undefined);
        });
      });
    await using started = await startServer({ routes: { "/ahp": { handle } }, limits: { maxInFlight: 40 } });
    const { server, port } = started;
    for (let left = 40; left > 0; left--) {
      const { socket } = await rawClient(port);
      socket.write(post(port, '{"id":1}'));
      socket.resetAndDestroy();
    }
    await until(() => server.connections === 0);
    await until(() => server.inFlight === 0);
    expect(gone.length).toBeLessThanOrEqual(40);
    expect(gone.every((word) => word === "told")).toBe(true);
  });

  it("run each in the async context that it came in, with its answer", async () => {
    const tenant = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const handle = async (message: unknown) => {
      seen.push([message, tenant.getStore()]);
      return message;
    };
    const replyHeaders = () => ({ "x-tenant": tenant.getStore() ?? "none" });
    const authenticate = (request: AuthenticationRequest) => {
      const name = request.header("user-agent");
      if (name !== undefined) tenant.enterWith(name);
      return { principal: undefined };
    };
    await using started = await startServer({ authenticate, routes: { "/ahp": { handle, replyHeaders } } });
    const { port } = started;
    const clients = await Promise.all(["alice", undefined, "bob", undefined].map(() => rawClient(port)));
    const names = ["alice", undefined, "bob", undefined];
    for (let round = 1; round <= 5; round++) {
      // The first rounds let the stages begin several at once.
      for (const [index, { write }] of clients.entries()) {
        const name = names[index];
        write(post(port, `{"name":${index}}`, ...(name === undefined ? [] : [`User-Agent: ${name}`])));
      }
      await until(() => clients.every(({ text }) => text().split("HTTP/1.1 200").length === round + 1));
    }
    expect(seen).toHaveLength(20);
    for (const [message, name] of seen as [{ name: number }, unknown][])
      expect(name).toBe(names[message.name]);
    for (const [index, client] of clients.entries()) {
      const told = [...client.text().matchAll(/x-tenant: (\w+)/g)].map(([, name]) => name);
      expect(told).toEqual(Array(5).fill(names[index] ?? "none"));
      client.socket.destroy();
    }
  });

  it("are answered although the answer of another fails, which loses its own connection only", async () => {
    const errors: unknown[] = [];
    await using started = await startServer({ onError: (error) => void errors.push(error) });
    const { port } = started;
    const clients = await Promise.all(Array.from({ length: 40 }, () => rawClient(port)));
    const failure = new Error("a patch of a tracer's fails");
    const patched = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementationOnce(() => {
      throw failure;
    });
    onTestFinished(() => patched.mockRestore());
    for (const [id, { write }] of clients.entries()) write(post(port, `{"id":${id}}`));
    await until(() => clients.every(({ closed, ended, text }) => closed || ended || text() !== ""));
    expect(clients.filter(({ text }) => text().startsWith("HTTP/1.1 200"))).toHaveLength(39);
    expect(errors).toEqual([failure]);
    for (const client of clients) client.socket.destroy();
  });
});
