import { chatMutants } from "../mutants/chat-mutants.ts";
import { createReferenceChat } from "../mutants/reference-chat.ts";
import { serveAdapter } from "../mutants/serve-adapter.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "chat",
  start: (mutant) => serveAdapter(createReferenceChat(mutant)),
  mutants: chatMutants,
  transports: ["unix"],
});
