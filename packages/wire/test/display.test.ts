import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { displayText } from "../src/index.ts";

describe("displayText", () => {
  it.each([
    ["plain text", "Run the tests? (y/n) – naïve 日本語 العربية"],
    ["emoji", "🚀 ❤️ ©"],
    ["joined emoji", "👩‍💻 👨‍👩‍👧 🏃‍♀️ ❤️‍🔥"],
    ["emoji with a skin tone", "👩🏽‍💻 👍🏿"],
    ["keycaps and flags", "1️⃣ #️⃣ 🇩🇪"],
    ["combining marks", "e\u0301"],
  ])("keeps %s", (_what, text) => {
    expect(displayText(text)).toBe(text);
  });

  it.each([
    ["a line feed", "a\nb", "a⟨U+000A⟩b"],
    ["a carriage return", "rm -rf /\rls", "rm -rf /⟨U+000D⟩ls"],
    ["an escape sequence", "\u001b[2K", "⟨U+001B⟩[2K"],
    ["C1 controls", "\u009b2K", "⟨U+009B⟩2K"],
    ["NUL and DEL", "\u0000\u007f", "⟨U+0000⟩⟨U+007F⟩"],
    ["bidirectional overrides", "\u202ecod\u202c", "⟨U+202E⟩cod⟨U+202C⟩"],
    ["bidirectional isolates", "\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"],
    ["marks of direction", "\u200e\u200f\u061c", "⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩"],
    [
      "zero-width characters",
      "a\u200b\u200c\u200d\u2060\ufeffb",
      "a⟨U+200B⟩⟨U+200C⟩⟨U+200D⟩⟨U+2060⟩⟨U+FEFF⟩b",
    ],
    ["a soft hyphen", "\u00ad", "⟨U+00AD⟩"],
    ["tags", "\u{e0041}\u{e007f}", "⟨U+E0041⟩⟨U+E007F⟩"],
    ["variation selectors", "a\ufe0f\u{e0100}", "a⟨U+FE0F⟩⟨U+E0100⟩"],
    ["line and paragraph separators", "\u2028\u2029", "⟨U+2028⟩⟨U+2029⟩"],
    ["odd spaces", "\u00a0\u2003\u3000", "⟨U+00A0⟩⟨U+2003⟩⟨U+3000⟩"],
    ["blank letters", "\u3164\u115f\u2800\uffa0", "⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩⟨U+FFA0⟩"],
    ["lone surrogates", "\ud83d \ude00", "⟨U+D83D⟩ ⟨U+DE00⟩"],
    ["private use and unassigned", "\ue000\u{10ffff}\u0378", "⟨U+E000⟩⟨U+10FFFF⟩⟨U+0378⟩"],
    ["a joiner that joins no emoji", "🚀\u200da", "🚀⟨U+200D⟩a"],
  ])("shows %s", (_what, text, expected) => {
    expect(displayText(text)).toBe(expected);
  });

  it("keeps line feeds and tabs of a block, and nothing else", () => {
    expect(displayText("a\n\tb\r\u202e", { multiline: true })).toBe("a\n\tb⟨U+000D⟩⟨U+202E⟩");
  });

  it("says what it cuts, and never cuts a character in two", () => {
    expect(displayText("abcdef", { maxLength: 4 })).toBe("abcd… [2 more characters]");
    expect(displayText("abcd", { maxLength: 4 })).toBe("abcd");
    expect(displayText("abc🚀def", { maxLength: 4 })).toBe("abc… [5 more characters]");
    expect(displayText("x".repeat(10_001))).toMatch(/x… \[1 more characters\]$/);
  });

  it("leaves nothing that hides or deceives, in any text", () => {
    const emoji =
      /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)*|[0-9#*]\ufe0f\u20e3/gu;
    const dangerous =
      /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}/u;
    const risky = fc.constantFrom(
      ..."\u202e\u200d\ufe0f\u001b\n\u00a0\u2066\ud83d\ude00👩💻🏽a1\u20e3\u{e0041}\u3164\u2800\u{f0000}\u0378",
      "\ud83d",
      "\ude00",
    );
    const text = fc.oneof(
      fc.array(risky, { maxLength: 30 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 50 }),
    );
    fc.assert(
      fc.property(text, (input) => {
        const shown = displayText(input);
        expect(shown.replace(emoji, "")).not.toMatch(dangerous);
        expect(displayText(shown)).toBe(shown);
      }),
      { numRuns: runs(200) },
    );
  });
});
