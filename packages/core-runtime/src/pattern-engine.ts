import { RE2JS } from "re2js";
import type { StepMeter } from "./step-meter.ts";

/**
 * Regular expressions of untrusted declarations: tested by an engine with linear time,
 * so that no pattern can hold the process up, and charged to the meter by input length times size of the program.
 * A pattern that the engine cannot take is left to the agent.
 */
export const patternEngine = (meter: StepMeter) => {
  const engine = (pattern: string) => {
    const compiled = compile(pattern);
    const size = compiled?.programSize() ?? 0;
    return {
      test(text: string): boolean {
        if (!compiled) return true;
        meter.take(size * (text.length + 1));
        return compiled.test(text);
      },
      /** Equal patterns share a place in the compiled code, different ones must not. */
      toString: () => pattern,
    };
  };
  return Object.assign(engine, { code: "patternEngine" });
};

const compile = (pattern: string): RE2JS | undefined => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    return undefined;
  }
};
