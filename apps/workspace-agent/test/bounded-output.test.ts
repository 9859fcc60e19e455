import fc from "fast-check";
import { expect, it } from "vitest";
import { BoundedOutput } from "../src/bounded-output.ts";

it("bounded output keeps everything that fits and both ends of what does not", () => {
  const chunks = fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(
      chunks,
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 7 }),
      (texts, maxBytes, step) => {
        const all = Buffer.from(texts.join(""));
        const output = new BoundedOutput(maxBytes);
        for (let at = 0; at < all.length; at += step) output.push(all.subarray(at, at + step));
        expect(output.truncated).toBe(all.length > maxBytes);
        if (!output.truncated) {
          expect(output.text()).toBe(all.toString("utf8"));
          return;
        }
        const [, head = "", missing = "", tail = ""] =
          /^(.*)\n\[… (\d+) bytes left out …\]\n(.*)$/s.exec(output.text()) ?? [];
        const text = all.toString("utf8");
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        const kept = Buffer.byteLength(head) + Buffer.byteLength(tail);
        expect(kept).toBeLessThanOrEqual(maxBytes);
        expect(kept + Number(missing)).toBe(all.length);
      },
    ),
  );
});
