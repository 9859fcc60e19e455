import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Channel } from "@harnesskit/wire";
import { expect } from "vitest";
import { type ChildContext, type ChildTransportOptions, createChildTransport } from "../src/index.ts";

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

/** False for a process that is gone, or that only waits for its parent to take note of its end. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
};

export const untilGone = (pid: number): Promise<void> =>
  expect.poll(() => isAlive(pid), { timeout: 10_000, interval: 10 }).toBe(false);

/** Starts a fixture as a child and gives the parent's channel to it. */
export const startFixture = (
  name: string,
  args: readonly string[] = [],
  options: Partial<ChildTransportOptions> = {},
): Promise<Channel<ChildContext>> =>
  createChildTransport({
    command: process.execPath,
    args: [fixture(name), ...args],
    stderr: "ignore",
    ...options,
  }).connect();
