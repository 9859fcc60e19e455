import * as z from "zod";

/** The ways to a target. */
export const TransportSchema = z.enum(["stdio", "unix", "tcp", "http", "ws"]);
export type TransportName = z.infer<typeof TransportSchema>;

const ids = z
  .string()
  .regex(/^[A-Z][A-Z0-9]*-[A-Za-z0-9.]+(?: [A-Z][A-Z0-9]*-[A-Za-z0-9.]+)*$/)
  .describe("Requirement ids, with a space between them");

const ChecksSchema = z
  .union([ids, z.record(ids, z.unknown())])
  .describe("Ids that hold if the step is met, or a matcher for each: what the step got has to match it");
export type Checks = z.infer<typeof ChecksSchema>;

const name = z.string().regex(/^[a-z][A-Za-z0-9_]*$/);
const Common = {
  on: name.optional().describe('The connection; "main" by default'),
  as: name.optional().describe("The name that later steps use for what this step got"),
  within: z.number().int().positive().optional().describe("Milliseconds to wait for the target"),
  checks: ChecksSchema.optional(),
  needsCredential: z.literal(true).optional().describe("Only where the suite has a credential of the target"),
  only: z.array(TransportSchema).min(1).optional().describe("The transports on which the step applies"),
};

const step = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.strictObject({ ...shape, ...Common });

const RawPartSchema = z.union([
  z.string(),
  z.strictObject({ hex: z.string().regex(/^(?:[0-9a-f]{2})*$/) }),
  z.strictObject({ repeat: z.string().min(1), times: z.number().int().positive() }),
  z.strictObject({ frame: z.unknown() }).describe("A message, framed as the transport frames messages"),
  z
    .strictObject({ frameText: z.union([z.string(), z.strictObject({ hex: z.string() })]) })
    .describe("Any content in a frame of the transport, such as text that is not JSON"),
]);
export type RawPart = z.infer<typeof RawPartSchema>;

const json = z.unknown();

const reference = z.string().regex(/^\$\{[^}]+\}$/);

const PostSchema = z.strictObject({
  method: z.string().optional(),
  headers: z
    .union([z.record(z.string(), z.string()), reference])
    .optional()
    .describe("Over those that there are, in lower case"),
  credential: z.enum(["valid", "wrong", "none", "other"]).optional(),
  query: z.string().optional().describe("Added to the URL, such as token=x"),
  sameConnection: z.literal(true).optional().describe("On the one connection that such posts share"),
  body: json.optional(),
  text: z.string().optional().describe("A body that is sent as it is"),
  fill: z.number().int().positive().optional().describe("A body of as many bytes"),
});
export type Post = z.infer<typeof PostSchema>;

const verbs = {
  open: step({
    open: name,
    credential: z.enum(["valid", "wrong", "none", "other", "query"]).optional(),
  }).describe("Opens a connection to a server; what it got is { open: true } or { open: false, status }"),
  send: step({ send: json }).describe("Sends one message; what it got is that message"),
  raw: step({
    raw: z.array(RawPartSchema).min(1),
    chop: z.number().int().positive().optional().describe("Bytes of each write"),
  }).describe("Sends bytes; over WebSocket one frame, over HTTP the body of one POST"),
  call: step({
    call: z.string(),
    params: json.optional(),
    id: json.optional(),
  }).describe("Sends a request of JSON-RPC; what it got is the response"),
  notify: step({ notify: z.string(), params: json.optional() }),
  ask: step({ ask: json }).describe(
    "Sends the value `request` of the suite with these members over it, and a request_id where it has none; what it got is the answer with that request_id",
  ),
  receive: step({ receive: json }).describe("Waits for a message that matches and was not taken yet"),
  gather: step({ gather: json }).describe("Takes all messages up to one that matches, as a list"),
  none: step({ none: json }).describe(
    "Holds if no message that was not taken matches, now or within the time that the step gives",
  ),
  reply: step({
    reply: json.describe("The request"),
    result: json.optional(),
    error: json.optional(),
    message: json.optional().describe("Instead of result or error: the whole message"),
    body: z.string().optional().describe("Instead of a message: bytes; over HTTP the body"),
    status: z.number().int().optional().describe("The status over HTTP"),
    drop: z.literal(true).optional().describe("Cuts the connection instead"),
  }).describe("Answers a request of a client"),
  end: step({ end: name }).describe("Sends no more, and still reads"),
  close: step({ close: name }),
  closed: step({ closed: name }).describe(
    "Waits until the target closes; what it got is { exitCode } over stdio",
  ),
  pause: step({ pause: name }).describe("Reads no more"),
  resume: step({ resume: name }),
  ping: step({ ping: name }).describe("Sends a ping over WebSocket; what it got is { pong: true }"),
  post: step({ post: PostSchema }).describe(
    "One HTTP request; what it got is { status, headers, text, body }",
  ),
  accept: step({ accept: name }).describe("Waits until a client connects"),
  do: step({ do: z.string(), params: json.optional() }).describe(
    "Has the target do something, by its driver",
  ),
  done: step({ done: name }).describe(
    "Waits for what the target did; what it got is { result } or { error }",
  ),
  restart: step({ restart: z.enum(["kill", "stop"]) }).describe("Ends the target and starts it again"),
  file: step({
    file: z.string(),
    optional: z.literal(true).optional().describe("One that is not there counts as empty"),
  }).describe("A file of the target's directory; what it got is { text, lines, json, mode }"),
  log: step({ log: name }).describe("What the target wrote to standard error; what it got is { log }"),
  check: step({ check: json }).describe("Matches a value that is there already"),
};

/** The verbs of steps. Each step has exactly one of them. */
export type Verb = keyof typeof verbs | "each" | "use";
type StepOf = { [V in keyof typeof verbs]: z.infer<(typeof verbs)[V]> };

const EachSchema = z
  .strictObject({
    each: json.describe("A list, or a reference to one"),
    as: name,
    steps: z.array(z.lazy((): z.ZodType<Step> => StepSchema)).min(1),
    only: Common.only,
  })
  .describe("Does the steps for each element");
const UseSchema = z.strictObject({
  use: name,
  with: z.record(name, json).optional(),
  only: Common.only,
});

export interface EachStep {
  each?: unknown;
  as: string;
  steps: Step[];
  only?: TransportName[] | undefined;
}
export type UseStep = z.infer<typeof UseSchema>;
export type LeafStep = StepOf[keyof StepOf];
export type Step = LeafStep | EachStep | UseStep;

const all = { ...verbs, each: EachSchema, use: UseSchema };

/** The verb of a step, or undefined. */
export const verbOf = (value: object): Verb | undefined =>
  (Object.keys(all) as Verb[]).find((verb) => verb in value);

/** One step of a scenario. */
export const StepSchema: z.ZodType<Step> = z.union(
  Object.values(all) as unknown as [z.ZodType<Step>, ...z.ZodType<Step>[]],
);

/** The schema of the steps with this verb, for errors that name the member that is wrong. */
export const schemaOfVerb = (verb: Verb): z.ZodType => all[verb];
