export { isCallShown, type SentAnswer, type SentMessage, sentAnswers, sentMessage } from "./sent-message.ts";
export { UiParts } from "./ui-parts.ts";
