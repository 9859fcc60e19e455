import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { createStyle } from "../src/terminal/style.ts";
import { threadRowText } from "../src/threads/thread-row.ts";

const style = createStyle(false);
const id = `ses_0a1b2c3d${"0".repeat(24)}`;
const twin = `ses_0a1b2c3d${"1".repeat(24)}`;
const row = { id, title: "mend the flaky test of the queue ".repeat(4), updatedAtMs: 0 };

describe("a row of a list of threads", () => {
  it.each([60, 100])("is one line of %i columns with a short id", (columns) => {
    const text = threadRowText({ ...row, state: "running" }, [id], { style, columns });
    expect(text).toMatch(/^0a1b2c3d {2}\S+ \S+ {2}running {2}mend the flaky/);
    expect(stringWidth(text)).toBeLessThanOrEqual(columns);
    expect(text.endsWith("…")).toBe(true);
  });

  it("has the whole id where another begins so, and where there is no terminal", () => {
    expect(threadRowText(row, [id, twin], { style, columns: 100 })).toContain(id);
    expect(threadRowText(row, [id], { style, columns: undefined })).toContain(id);
  });

  it("keeps the kind of a conversation, which its command needs", () => {
    const chat = "chat_9b27f8f6";
    expect(threadRowText({ ...row, id: chat }, [chat], { style, columns: 60 })).toMatch(/^chat_9b27f8f6 /);
  });
});
