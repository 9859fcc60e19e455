import { chmod, mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { hubPlace } from "@harnesskit/hub/place";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { findHub, requireHub } from "../src/hub/find-hub.ts";

/** A program that takes connections where a hub's socket would be, in a directory of these rights. */
const plantHub = async (mode: number) => {
  const directory = await temporaryDirectory();
  const state = `${directory.path}/hub`;
  const { socket } = hubPlace({ state });
  await mkdir(dirname(socket));
  await chmod(dirname(socket), mode);
  let connections = 0;
  const server = createServer((connection) => {
    connections += 1;
    connection.on("error", () => {});
  });
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(async () => {
    await new Promise((done) => server.close(done));
    await directory[Symbol.asyncDispose]();
  });
  return { state, connections: () => connections };
};

it.each([0o777, 0o770, 0o711])(
  "a hub in a directory that others can use (%o) is not believed",
  async (mode) => {
    const { state, connections } = await plantHub(mode);
    const refusal = { name: "CliError", code: "insecure_directory", exitCode: 4 };
    await expect(findHub(state)).rejects.toMatchObject(refusal);
    await expect(requireHub(state)).rejects.toMatchObject(refusal);
    expect(connections()).toBe(0);
  },
);

it("a hub in a directory of its user alone is found", async () => {
  const { state } = await plantHub(0o700);
  expect((await findHub(state))?.directory).toBe(state);
});
