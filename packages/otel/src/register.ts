import { registerOtel } from "./register-otel.ts";

// For `node --import @harnesskit/otel/register`, behind the `--import` that starts the SDK. Content by the environment alone.
registerOtel({ content: process.env.HARNESS_OTEL_CONTENT === "true" });
