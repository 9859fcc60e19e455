export { isCallShown, type SentAnswer, type SentMessage, sentAnswers, sentMessage } from "./sent-message.ts";
export { type UiPartChunk, UiParts } from "./ui-parts.ts";
