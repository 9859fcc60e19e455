import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFile } from "node:fs/promises";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { join } from "node:path";
import { AhpFailure } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openAhpEndpoint } from "../src/ahp/endpoint.ts";
import type { AccessOptions } from "../src/ahp/token.ts";
import { CliError } from "../src/cli-error.ts";
import { withHarness } from "./support/ahp.ts";
import { binPath, makeWorkspace } from "./support/harness.ts";

const token = "a-token-for-the-tests";

/** Asks the harness at an endpoint about one action. */
const decide = (to: string, access: AccessOptions = {}) =>
  withHarness(to, access, (client) => client.decide("pre_action", { tool_name: "bash" }));

describe("the harness of --ahp", () => {
  it("is shown a token or an API key, of a file or of the environment, in a header or in the URL of a WebSocket", async () => {
    const cwd = await makeWorkspace();
    const harness = createAhpServer({
      ...{ name: "test", version: "1" },
      handlers: { pre_action: () => ({ decision: "allow" as const }) },
    });
    const server = createHttpServer({ routes: { "/ahp": harness }, token });
    await server.webSocketListener({ path: "/ws" }).listen((channel) => harness.connect(channel));
    await server.listen();
    onTestFinished(() => server.close());
    const { port } = new URL(server.url ?? "");
    /** Node publishes what its server is asked, and what its client asks for a WebSocket. */
    const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
    const noteServed = (message: unknown) => {
      const { url = "", headers } = (message as { request: IncomingMessage }).request;
      seen.push({ url, headers: { ...headers } });
    };
    const noteSent = (message: unknown) => {
      const { request } = message as { request: ClientRequest };
      const headers = request.getHeaders() as IncomingHttpHeaders;
      if (request.path.startsWith("/ws")) seen.push({ url: request.path, headers });
    };
    subscribe("http.server.request.start", noteServed);
    subscribe("http.client.request.start", noteSent);
    onTestFinished(() => {
      unsubscribe("http.server.request.start", noteServed);
      unsubscribe("http.client.request.start", noteSent);
    });
    const file = join(cwd, "key");
    await writeFile(file, `${token}\n`, { mode: 0o600 });
    const shown = async (path: string, access: AccessOptions, env: Record<string, string> = {}) => {
      seen.length = 0;
      for (const name of ["HARNESS_AHP_TOKEN", "HARNESS_AHP_API_KEY"]) vi.stubEnv(name, env[name]);
      const to = `${path.startsWith("/ws") ? "ws" : "http"}://127.0.0.1:${port}${path}`;
      const verdict = await decide(to, access).finally(() => vi.unstubAllEnvs());
      expect(verdict).toMatchObject({ origin: "harness", decision: { decision: "allow" } });
      const [{ url = "", headers = {} } = {}] = seen;
      return [url, headers["x-api-key"], headers.authorization];
    };
    const bearer = ["/ahp", undefined, `Bearer ${token}`];
    const key = ["/ahp", token, undefined];
    expect(await shown("/ahp", { tokenFile: file })).toEqual(bearer);
    expect(await shown("/ahp", {}, { HARNESS_AHP_TOKEN: token })).toEqual(bearer);
    expect(await shown("/ahp", { apiKeyFile: file })).toEqual(key);
    expect(await shown("/ahp", {}, { HARNESS_AHP_API_KEY: token })).toEqual(key);
    expect(await shown("/ahp", { tokenFile: file }, { HARNESS_AHP_API_KEY: "other" })).toEqual(bearer);
    expect(await shown("/ws", { apiKeyFile: file })).toEqual(["/ws", token, undefined]);
    expect(await shown("/ws", { apiKeyFile: file, inQuery: true })).toEqual([
      `/ws?api_key=${token}`,
      ...[undefined, undefined],
    ]);
    expect(await shown("/ws", { tokenFile: file, inQuery: true })).toEqual([
      `/ws?token=${token}`,
      ...[undefined, undefined],
    ]);
    const wrong = join(cwd, "wrong");
    await writeFile(wrong, "another-key-for-the-tests");
    const refused = await decide(`ws://127.0.0.1:${port}/ws`, { apiKeyFile: wrong }).catch(
      (error: unknown) => error,
    );
    expect(AhpFailure.isInstance(refused) && refused.code).toBe("unauthorized");
    expect(String(refused)).not.toContain("another-key");
  });

  it("can be started as a child, and ends with its client", async () => {
    const cwd = await makeWorkspace();
    vi.stubEnv("XDG_STATE_HOME", join(cwd, "state"));
    const audit = `${cwd}/a\\ b.jsonl`;
    const command = `'${process.execPath}' "${binPath}" ahp serve --stdio --quiet --audit ${audit}`;
    const verdict = await decide(`stdio:${command}`).finally(() => vi.unstubAllEnvs());
    expect(verdict).toMatchObject({ origin: "harness", decision: { decision: "escalate" } });
    await expect(decide("stdio:/does/not/exist")).rejects.toMatchObject({ code: "unreachable" });
  });

  it.each<[string, AccessOptions, string]>([
    ["unix:", {}, "is not an endpoint"],
    ["tcp:127.0.0.1:1", {}, "is not an endpoint"],
    ["/run/a.sock", {}, "is not an endpoint"],
    ["stdio:", {}, "is not an endpoint"],
    ["stdio:node 'x", {}, "has no end"],
    [`unix:${"x".repeat(200)}`, {}, "--ahp:"],
    ["http://u:p@127.0.0.1/ahp", {}, "--ahp:"],
    ["ws://127.0.0.1:1", { inQuery: true }, "--ahp-credentials-in-query: there is no credential"],
    ["unix:x", { inQuery: true }, "--ahp-credentials-in-query is for a WebSocket"],
    ["unix:x", { apiKeyFile: "nowhere" }, "--ahp-api-key-file: nowhere cannot be read"],
    ["unix:x", { tokenFile: "nowhere" }, "--ahp-token-file: nowhere cannot be read (it is not there)"],
  ])("%s with %j is wrong usage", async (to, access, text) => {
    const error = await openAhpEndpoint(to, access).catch((thrown: unknown) => thrown);
    expect(CliError.isInstance(error) && [error.exitCode, error.message]).toEqual([
      2,
      expect.stringContaining(text),
    ]);
  });

  it("is shown one credential: two of the environment are wrong usage", async () => {
    vi.stubEnv("HARNESS_AHP_TOKEN", token);
    vi.stubEnv("HARNESS_AHP_API_KEY", token);
    const opened = openAhpEndpoint("http://127.0.0.1:1/ahp", {}).finally(() => vi.unstubAllEnvs());
    await expect(opened).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("are both set"),
    });
  });
});
