import { expect, it } from "vitest";
import { respond, scripted } from "./support.ts";

it("a value that is to leave as its hash does so, with a hash of one length for all values, and raw by no way: no field, no header, no attempt, no diagnostic", async () => {
  const { shell, sent, calls, diagnostics } = scripted(
    (request, _call, attempt) => {
      if (attempt === 1) throw new Error("the connection broke");
      return respond(
        request,
        [
          {
            action_type: "request_approval",
            payload: { message: "Go on?", continuation: { run_id: "r" } },
          },
        ].slice(0, attempt === 2 ? 1 : 0),
      );
    },
    {
      environment: {
        tiers: { os: "public", title: "restricted", pixels: "restricted", pin: "restricted" },
      },
      approve: () => "approved",
    },
  );
  const environment = {
    os: "macOS",
    title: "Payslip of Ada Lovelace",
    pixels: { z: [1, { secret: "IBAN DE02" }], a: null },
    pin: 47110815,
  };
  await shell.send({ intent: "go", environment });
  expect(sent).toHaveLength(3);
  const [first, second, answer] = sent.map(({ request }) => request.context?.environment_state);
  expect(first).toEqual({
    privacy_tier: "restricted",
    os: "macOS",
    title: expect.any(String),
    pixels: expect.any(String),
    pin: expect.any(String),
  });
  // An encoding would grow with its value.
  const lengths = [first?.title, first?.pixels, first?.pin].map((hash) => String(hash).length);
  expect([new Set(lengths).size, Math.min(...lengths) >= 32]).toEqual([1, true]);
  expect(new Set([first?.title, first?.pixels, first?.pin]).size).toBe(3);
  expect([second, answer]).toEqual([first, undefined]);
  const everything = JSON.stringify([sent, calls.map(({ headers }) => headers), diagnostics]);
  for (const raw of ["Payslip", "Lovelace", "IBAN", "secret", "47110815"])
    expect(everything).not.toContain(raw);
  await shell.send({ environment: { title: "Payslip of Ada Lovelace", pin: 47110816 } });
  const next = sent.at(-1)?.request.context?.environment_state;
  // Equal values can be compared, and different ones told apart.
  expect(next?.title).toBe(first?.title);
  expect([next?.pin, next?.title]).not.toContain(first?.pin);
});
