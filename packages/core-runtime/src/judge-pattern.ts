/** Lookaround and back references: what no engine can test in linear time. */
const beyondLinear = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;

/** Whether it is a regular expression, and one that can be tested in linear time. */
export const judgePattern = (pattern: string): "linear" | "beyond" | "invalid" => {
  try {
    new RegExp(pattern, "u");
  } catch {
    try {
      new RegExp(pattern);
    } catch {
      return "invalid";
    }
  }
  return beyondLinear.test(pattern.replace(/\\[^1-9k]/g, "_")) ? "beyond" : "linear";
};
