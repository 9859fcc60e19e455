import { displayText } from "@harnesskit/wire";
import * as z from "zod";
import { McpError } from "./errors.ts";

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, "must be the name of an environment variable");
const word = z
  .string()
  .max(32_768)
  .refine((text) => !text.includes("\0"), "must not hold a NUL");

/** Names that belong to the core, and to what it starts. */
const reserved = /^HARNESS_/;

/** A program that speaks MCP on its standard streams. */
const McpCommandSchema = z.strictObject({
  /** The program and its arguments; no shell reads them. Arguments are visible to other users: put no secret there. */
  command: z.tuple([word.min(1)], word, "must be a list: the program, then its arguments"),
  /** Names of environment variables that the program gets, beside PATH, HOME and the like. */
  env: z
    .array(variable.refine((name) => !reserved.test(name), "belongs to the core"))
    .max(256)
    .optional(),
  /** Absolute path of the directory that it runs in. @default the agent's own */
  cwd: word.refine((path) => path.startsWith("/"), "must be an absolute path").optional(),
});

const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

const urlProblem = (text: string, allowHttp: boolean): string | undefined => {
  if (!URL.canParse(text)) return "must be a URL";
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    return "must not hold a user or password: name the variable of a header in headers";
  }
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:" && (allowHttp || isLoopback(url))) return undefined;
  return "must begin with https:, or with http: for a server of this machine; allowHttp takes http: for others, inside a private network";
};

/** A server that speaks Streamable HTTP. */
const McpUrlSchema = z
  .strictObject({
    url: word,
    /** Take `http:` for a server of another machine, too: who is between reads and changes all. @default false */
    allowHttp: z.boolean().optional(),
    /** Headers of each request: by the header's name, the name of the environment variable with its whole value. */
    headers: z.record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/), variable).optional(),
    /** The OAuth client that gets tokens for the server, by client credentials: no human is asked. */
    oauth: z
      .strictObject({
        /** The authorization server that knows the client. It alone gets the secret. */
        issuer: word.refine((text) => URL.canParse(text), "must be a URL"),
        clientId: word.min(1),
        /** The name of the environment variable with the client's secret. */
        clientSecret: variable,
        /** With spaces between. @default what the server asks for */
        scope: word.optional(),
      })
      .optional(),
  })
  .superRefine(({ url, allowHttp = false }, context) => {
    const message = urlProblem(url, allowHttp);
    if (message !== undefined) context.addIssue({ code: "custom", message, path: ["url"] });
  });

/** Where an MCP server is, without any secret. */
export const McpServerSchema = z.union([McpCommandSchema, McpUrlSchema]);
export type McpServer = z.infer<typeof McpServerSchema>;

/** What is wrong with the description of a server: an unknown field, or the first invalid one. */
export const configProblem = (what: string, { issues }: z.ZodError): McpError => {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  const field = displayText((issue?.path ?? []).map(String).join("."), { maxLength: 200 });
  const problem = displayText(issue?.message ?? "", { maxLength: 300 });
  return new McpError(
    "mcp.config_invalid",
    `${what} is wrong${field === "" ? "" : ` at ${field}`}: ${problem}`,
  );
};

/** The server of an unknown value. Throws `mcp.config_invalid` with the field that is wrong. */
export const parseMcpServer = (value: unknown): McpServer => {
  const isUrl = typeof value === "object" && value !== null && "url" in value;
  const { data, error } = (isUrl ? McpUrlSchema : McpCommandSchema).safeParse(value);
  if (data) return data;
  throw configProblem("server", error);
};

/** The names of the environment variables that a server needs. */
export const variablesOf = (server: McpServer): string[] => {
  if ("command" in server) return [...(server.env ?? [])];
  const secrets = server.oauth ? [server.oauth.clientSecret] : [];
  return [...new Set([...Object.values(server.headers ?? {}), ...secrets])];
};

/** What people call the server: its command line or its URL, without query. Safe to show. */
export const serverTitle = (server: McpServer): string => {
  if ("command" in server) return displayText(server.command.join(" "), { maxLength: 500 });
  const { origin, pathname } = new URL(server.url);
  return displayText(`${origin}${pathname}`, { maxLength: 500 });
};
