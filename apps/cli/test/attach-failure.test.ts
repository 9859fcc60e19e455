import { LogWentBackError, ThreadError } from "@harnesskit/thread-client";
import { describe, expect, it } from "vitest";
import { toCliFailure } from "../src/run/failures.ts";

const facts = { command: "attach" as const, endpoint: "unix:/s.sock", threadId: "ses_1" };

describe("why a thread cannot be followed", () => {
  it("is a log that went back: what was shown is no longer so, and how to see what is", () => {
    const cause = new LogWentBackError("ses_1");
    const error = toCliFailure(cause, facts);
    expect(error).toMatchObject({ name: "CliError", code: "log_went_back", exitCode: 1, cause });
    expect(error.message).toContain("went back to an earlier state");
    expect(error.hints).toMatchObject([{ run: "harness attach unix:/s.sock --thread ses_1" }]);
  });

  it("is a lock that names nobody, in the server's words", () => {
    const message = "The lock file threads/ses_1/lock.json names no server";
    const data = { reason: "lock_unreadable" };
    const error = toCliFailure(new ThreadError(-32002, message, { code: "turn_busy", data }), facts);
    expect(error).toMatchObject({ name: "CliError", code: "lock_unreadable", message });
    expect(error.hints).toMatchObject([{ run: "harness doctor" }]);
  });

  it("is another server that writes it", () => {
    const data = { reason: "thread_locked" };
    const error = toCliFailure(new ThreadError(-32002, "held", { code: "turn_busy", data }), facts);
    expect(error).toMatchObject({ name: "CliError", code: "turn_busy" });
  });
});
