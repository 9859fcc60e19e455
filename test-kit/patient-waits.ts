import { vi } from "vitest";

/** Milliseconds that a test waits for something, unless it says otherwise: on a busy machine a second is soon over. */
const timeout = 15_000;

const { waitFor, waitUntil } = vi;
const patient = <T>(options: number | T | undefined) =>
  typeof options === "number" ? options : { timeout, ...options };

vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
