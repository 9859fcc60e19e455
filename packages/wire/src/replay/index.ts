export { createReplay, type Replay, type ReplayOptions } from "./replay.ts";
export type { ReplayMessage, ReplayModel } from "./replayed-message.ts";
export { firstCharacters, wellFormed, wellFormedJson } from "./well-formed.ts";
