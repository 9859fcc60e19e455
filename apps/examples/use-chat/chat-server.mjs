import { once } from "node:events";
import { createServer } from "node:http";
import { createThreadClient } from "@harnesskit/thread-client";
import { createThreadChatTransport } from "@harnesskit/thread-client/ai-sdk-ui";
import { createChatHandler } from "@harnesskit/transport-http/ai-sdk-ui";
import { toNodeHandler } from "@harnesskit/transport-http/node";
import { InvalidArgumentError } from "@harnesskit/wire";
import { createMemoryTransport } from "@harnesskit/wire/testing";

/** The thread of a chat: the one with the chat's id as its title, or a new one. The page makes up the ids of its chats. */
const threadOfChat = (client) => {
  const known = new Map();
  const find = async (chatId) => {
    if (!/^chat-[\w-]{8,64}$/u.test(chatId)) throw new InvalidArgumentError("this is not the id of a chat");
    const { threads } = await client.listThreads({ title: chatId });
    const thread = threads.find(({ title }) => title === chatId);
    return (thread ?? (await client.createThread({ title: chatId, clientRequestId: chatId }))).threadId;
  };
  return (chatId) => {
    if (!known.has(chatId)) {
      const found = find(chatId);
      known.set(chatId, found);
      found.catch(() => known.delete(chatId));
    }
    return known.get(chatId);
  };
};

/** Serves the page and its chats on one port of this machine, with an agent in the same process. Gives the origin. */
export const startChatServer = async ({ agent, page, token, port = 0 }) => {
  const { transport, listener } = createMemoryTransport();
  await listener.listen((channel) => agent.connect(channel));
  const client = createThreadClient({ transport });
  await client.connect();

  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${server.address().port}`;
  const origin = `http://${host}`;
  const chats = createChatHandler({
    transport: createThreadChatTransport({ client, resolveThread: threadOfChat(client) }),
    path: "/api/chat",
    token,
    allowedHosts: [host],
    allowedOrigins: [origin],
    onError: (error) => console.error(error),
  });
  const route = (request) => {
    const { pathname, host: asked } = new URL(request.url);
    if (pathname === "/api/chat" || pathname.startsWith("/api/chat/")) return chats(request);
    // A name that was made to resolve to this machine is not one of its names.
    return asked === host ? page(request) : new Response("Another host.\n", { status: 403 });
  };
  server.on("request", toNodeHandler(route));
  return origin;
};
