import { registerOtel } from "./register-otel.ts";

// For `node --import @harnesskit/otel/register`, behind the `--import` that starts the SDK. Content by the environment alone.

/** Whether an SDK was there to report to. */
export const isRegistered: boolean = registerOtel({ content: process.env.HARNESS_OTEL_CONTENT === "true" });
