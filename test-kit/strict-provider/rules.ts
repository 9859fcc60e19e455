/**
 * What OpenAI, Anthropic and Gemini refuse of a request, as their documentation and their answers say; where they differ, the strictest,
 * since a conversation may go on with any of them.
 */

type Json = Record<string, unknown>;
const objects = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export class Refused extends Error {}

const refuse = (reason: string): never => {
  throw new Refused(reason);
};
const check = (holds: unknown, reason: string): void => {
  if (!holds) refuse(reason);
};

const checkName = (name: unknown): void => {
  check(
    typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name),
    `the name ${JSON.stringify(name)}`,
  );
};
const checkText = (text: unknown): void =>
  check(typeof text === "string" && text.trim() !== "", `an empty text: ${JSON.stringify(text)}`);

const checkId = (id: unknown, seen: Set<unknown>): void => {
  check(typeof id === "string" && /^[A-Za-z0-9_-]{1,40}$/.test(id), `the id ${JSON.stringify(id)}`);
  check(!seen.has(id), `the id ${JSON.stringify(id)} is not unique`);
  seen.add(id);
};

const checkTools = (tools: readonly { name: unknown; description: unknown; schema: unknown }[]): void => {
  check(tools.length <= 128, "more than 128 tools");
  check(new Set(tools.map(({ name }) => name)).size === tools.length, "two tools of one name");
  for (const { name, description, schema } of tools) {
    checkName(name);
    check(description === undefined || typeof description === "string", `the description of ${String(name)}`);
    check(
      schema === undefined || (isRecord(schema) && (schema.type === "object" || schema.type === "OBJECT")),
      `the schema of ${String(name)}`,
    );
  }
};

/** Of one role in a row there is one message, a user begins, and the last word is not the assistant's. */
const checkRoles = (roles: readonly string[]): void => {
  check(roles.length > 0, "no message");
  check(roles[0] === "user", "the first message must use the user role");
  check(roles.at(-1) !== "assistant", "the conversation must end with a user message");
  roles.forEach((role, index) => {
    check(role === "tool" || role !== roles[index - 1], "roles must alternate");
  });
};

const sameIds = (calls: readonly unknown[], results: readonly unknown[]): boolean =>
  calls.length === results.length && calls.every((id, index) => id === results[index]);

export const judgeOpenAi = ({ messages, tools }: Json): void => {
  const conversation = objects(messages).filter(({ role }) => role !== "system");
  checkRoles(conversation.map(({ role }) => String(role)));
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  for (const { role, content, tool_calls: calls, tool_call_id: id } of objects(messages)) {
    if (role === "tool") {
      check(open.includes(id), `a tool message without its call: ${JSON.stringify(id)}`);
      open = open.filter((each) => each !== id);
      checkText(content);
      continue;
    }
    check(open.length === 0, `calls without a tool message: ${JSON.stringify(open)}`);
    if (typeof content === "string" && !(content === "" && calls !== undefined)) checkText(content);
    else if (Array.isArray(content)) {
      check(content.length > 0, "an empty content");
      for (const part of objects(content)) if (part.type === "text") checkText(part.text);
    } else check(calls !== undefined, "no content");
    check(calls === undefined || objects(calls).length > 0, "an empty tool_calls");
    for (const call of objects(calls)) {
      checkId(call.id, seen);
      const { name, arguments: input } = call.function as Json;
      checkName(name);
      check(isRecord(JSON.parse(String(input))), "arguments that are not an object");
      open.push(call.id);
    }
  }
  check(open.length === 0, `calls without a tool message: ${JSON.stringify(open)}`);
  const shown = objects(tools).map((each) => each.function as Json);
  checkTools(shown.map(({ name, description, parameters: schema }) => ({ name, description, schema })));
};

/** @param signed the signatures that the provider has given */
export const judgeAnthropic = ({ messages, tools, system }: Json, signed: ReadonlySet<unknown>): void => {
  checkRoles(objects(messages).map(({ role }) => String(role)));
  for (const { text } of objects(system)) checkText(text);
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  for (const { role, content } of objects(messages)) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
    check(blocks.length > 0, "an empty content");
    check(role !== "assistant" || blocks.at(-1)?.type !== "thinking", "the final block cannot be thinking");
    const results = blocks.filter(({ type }) => type === "tool_result");
    check(
      sameIds(
        open,
        results.map((block) => (block as Json).tool_use_id),
      ),
      `tool_use ids without a tool_result right after: ${JSON.stringify(open)}`,
    );
    check(
      blocks.slice(0, results.length).every(({ type }) => type === "tool_result"),
      "a text before a tool_result",
    );
    open = [];
    for (const block of blocks as Json[]) {
      if (block.type === "text") checkText(block.text);
      if (block.type === "thinking") check(signed.has(block.signature), "thinking without its signature");
      if (block.type === "tool_result") {
        if (typeof block.content === "string") checkText(block.content);
        else for (const part of objects(block.content)) if (part.type === "text") checkText(part.text);
      }
      if (block.type !== "tool_use") continue;
      checkId(block.id, seen);
      checkName(block.name);
      check(isRecord(block.input), "an input that is not an object");
      open.push(block.id);
    }
  }
  check(open.length === 0, "tool_use without a tool_result");
  checkTools(
    objects(tools).map(({ name, description, input_schema: schema }) => ({ name, description, schema })),
  );
};

/** @param signed the signatures that the provider has given: from then on it wants them back */
export const judgeGemini = ({ contents, tools }: Json, signed: ReadonlySet<unknown>): void => {
  const turns = objects(contents).map(({ role, parts }) => ({ role, parts: objects(parts) }));
  const isResult = (parts: readonly Json[]): boolean =>
    parts.some((part) => part.functionResponse !== undefined);
  checkRoles(
    turns.map(({ role, parts }) => (role === "model" ? "assistant" : isResult(parts) ? "tool" : "user")),
  );
  const running = turns.findLastIndex(({ role, parts }) => role === "user" && !isResult(parts));
  let open = 0;
  turns.forEach(({ role, parts }, index) => {
    check(parts.length > 0, "parts must not be empty");
    // What Gemini signed is its own, and is given back as it came.
    for (const part of parts) if ("text" in part && part.thoughtSignature === undefined) checkText(part.text);
    const results = parts.filter((part) => part.functionResponse !== undefined);
    check(
      results.length === open,
      "as many functionResponse parts as functionCall parts must come right after",
    );
    const calls = role === "model" ? parts.filter((part) => part.functionCall !== undefined) : [];
    for (const { functionCall } of calls) {
      checkName((functionCall as Json).name);
      check(isRecord((functionCall as Json).args), "args that are not an object");
    }
    const first = calls[0];
    if (first && index > running && signed.size > 0) {
      check(signed.has(first.thoughtSignature), "a function call is missing a thought_signature");
    }
    open = calls.length;
  });
  check(open === 0, "a functionCall without its functionResponse");
  const declared = objects(tools).flatMap(({ functionDeclarations: each }) => objects(each));
  checkTools(declared.map(({ name, description, parameters: schema }) => ({ name, description, schema })));
};

/** What no JSON parser of theirs takes: a string with half of a surrogate pair. */
export const checkWellFormed = (body: unknown): void => {
  const escaped = JSON.stringify(body).replaceAll("\\\\", "");
  check(!/\\ud[89a-f]/.test(escaped), "invalid JSON: a lone surrogate");
};
