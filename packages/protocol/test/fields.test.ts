import { describe, expect, it } from "vitest";
import * as z from "zod";
import { discriminatedUnion, object } from "../src/fields.ts";
import { ActionDirectiveSchema } from "../src/openharness/index.ts";

describe("an object that makes its fields late", () => {
  it("of the protocol can be extended before the first message", () => {
    const Extended = ActionDirectiveSchema.extend({ shown_at: z.number() });
    const directive = { action_type: "noop", shown_at: 1 };
    expect(Extended.parse({ ...directive, payload: null })).toStrictEqual(directive);
  });

  it("has no fields but its own, for zod and for who looks at it", () => {
    const Schema = object(() => ({ name: z.string() }));
    expect(() => Schema.pick({ other: true } as never)).toThrow('Unrecognized key: "other"');
    const Other = object(() => ({ name: z.string() }));
    expect(() => z.discriminatedUnion("type", [Other as never])).toThrow(
      "Invalid discriminated union option",
    );
  });

  it("is not made by a union of it, which tells its options apart with the first message", () => {
    let made = 0;
    const option = <Type extends string>(type: Type) =>
      object(() => {
        made++;
        return { type: z.literal(type) };
      });
    const Union = discriminatedUnion("type", [option("a"), option("b")]);
    expect(made).toBe(0);
    expect(Union.parse({ type: "b" })).toStrictEqual({ type: "b" });
    expect(Union.safeParse({ type: "c" }).success).toBe(false);
    expect(made).toBe(2);
  });
});
