/** What a line of the user asks for. */
export type ChatCommand =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "approve"; readonly id: string }
  | { readonly kind: "reject"; readonly id: string; readonly reason: string | undefined }
  | { readonly kind: "help" | "pending" | "quit" | "nothing" }
  /** One that only some conversations have, or none. */
  | { readonly kind: "other"; readonly word: string; readonly argument: string };

export const chatHelp: readonly (readonly [usage: string, text: string])[] = [
  ["/approve ID", "run the call that waits; without an ID the only one"],
  ["/reject ID [REASON]", "do not run it; the model gets the reason"],
  ["/pending", "show what waits"],
  ["/quit, /exit", "leave; what waits goes on waiting"],
  ["//text", "a message that begins with a /"],
  ["Tab", "completes commands, ids and @FILE"],
  ["Alt+Enter", "or a \\ at the end of a line: the message goes on in the next line"],
  ["Enter", "while a turn runs: what you typed is the next message, after the turn"],
  ["Up, Down", "bring back what was sent; a message of several lines as one, with ⏎"],
  ["Esc", "cancels a turn that runs; at a question: leaves it waiting"],
  ["Ctrl-C", "cancels a turn too, else drops what is typed; twice at an empty line: leaves"],
];

/** Reads a line, or what was pasted as one. */
export const parseChatLine = (line: string): ChatCommand => {
  const text = line.trim();
  if (text === "") return { kind: "nothing" };
  if (text === "exit" || text === "quit") return { kind: "quit" };
  if (!text.startsWith("/")) return { kind: "message", text };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const [word = "", id = "", ...rest] = text.split(/\s+/);
  const argument = text.slice(word.length).trim();
  switch (word) {
    case "/approve":
      return rest.length === 0 ? { kind: "approve", id } : { kind: "other", word: text, argument: "" };
    case "/reject": {
      const reason = argument.slice(id.length).trim();
      return { kind: "reject", id, reason: reason === "" ? undefined : reason };
    }
    case "/exit":
      return { kind: "quit" };
    case "/help":
    case "/pending":
    case "/quit":
      return { kind: word.slice(1) as "help" | "pending" | "quit" };
    default:
      return { kind: "other", word, argument };
  }
};
