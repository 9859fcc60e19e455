import * as z from "zod";
import { object } from "../fields.ts";

/** Where the API, the agents and a page's access are, on the hub's HTTP server. */
export const hubPaths = {
  /** WebSocket: the API. */
  api: "/api",
  /** POST and WebSocket: AHP. */
  ahp: "/ahp",
  /** POST, with a one-time ticket of the address's fragment (`#ticket=…`): a session token for the page. */
  session: "/page/session",
  /** POST, with the code of a pairing link's fragment (`#pair=…`): a device's own token. */
  pair: "/page/pair",
  /** POST, with the session's or device's token as a bearer: a one-time ticket for one WebSocket, as its query's `token`. */
  ticket: "/page/ticket",
  /** POST, with the hub's token as a bearer: a one-time ticket for a link to the page. */
  open: "/page/open",
  /** The page that a link in a notice opens, with its token in the fragment. */
  answerPage: "/answer.html",
  /** POST, with the token of such a link: the approval. */
  answerView: "/answer/view",
  /** POST, with the token of such a link: the answer. */
  answer: "/answer/say",
} as const;

export const PageSessionRequestSchema = object(() => ({ ticket: z.string().min(1).max(200) }));
/** The page keeps the token in its `sessionStorage`, and removes the ticket from the address. */
export const PageSessionSchema = object(() => ({ token: z.string(), expiresAtMs: z.int().nonnegative() }));
export type PageSession = z.infer<typeof PageSessionSchema>;

/** Valid once, and for a minute. */
export const SocketTicketSchema = object(() => ({ ticket: z.string() }));

const AnswerTokenSchema = z.string().min(1).max(2000);
/** What a link in a notice shows. */
export const AnswerViewRequestSchema = z.object({ token: AnswerTokenSchema });
/** The answer that is given through a link: of one approval, once. It gives no grant. */
export const AnswerRequestSchema = object(() => ({
  token: AnswerTokenSchema,
  decision: z.enum(["approve", "reject"]),
  note: z.string().min(1).max(1000).optional(),
}));
