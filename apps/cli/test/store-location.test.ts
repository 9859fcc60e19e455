import { expect, it } from "vitest";
import { toLocation } from "../src/store/location.ts";

it.each([
  "postgres://me:s3cret@127.0.0.1/db",
  "POSTGRES://me:s3cret@127.0.0.1/db",
  "PostgreSQL://me@127.0.0.1/db?password=s3cret",
  "postgres://me@127.0.0.1/db?sslpassword=s3cret",
  "postgres://me@127.0.0.1/db?ssl%70assword=s3cret",
  " postgres://me:s3cret@127.0.0.1/db",
  "MYSQL://me:s3cret@127.0.0.1/db",
  " mysql://me:s3cret@127.0.0.1/db",
])("%j is no file, and no error repeats its password", (text) => {
  const error = (() => {
    try {
      return toLocation(text, {});
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ name: "CliError", code: "usage", exitCode: 2 });
  expect(String((error as Error).message)).not.toContain("s3cret");
});

it("takes the URL of HARNESS_STORE in any case of its scheme", () => {
  const env = { HARNESS_STORE: "Postgres://me:s3cret@127.0.0.1/db?schema=agents" };
  expect(toLocation("POSTGRES:", env)).toEqual({
    kind: "postgres",
    url: "postgresql://me:s3cret@127.0.0.1/db",
    schema: "agents",
  });
});
