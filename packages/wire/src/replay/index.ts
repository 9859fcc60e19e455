export { createReplay, type Replay } from "./replay.ts";
export { firstCharacters, wellFormed, wellFormedJson } from "./well-formed.ts";
