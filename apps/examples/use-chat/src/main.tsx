/** @jsxImportSource react */
import "./no-eval.ts";
import type { ThreadUIMessage } from "@harnesskit/thread-client/ai-sdk-ui";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { type Access, chatLink, newChatId, readAccess } from "./access.ts";
import { createChatApi } from "./chat-api.ts";
import { ChatView } from "./chat-view.tsx";

const App = ({ access }: { readonly access: Access }) => {
  const [api] = useState(() => createChatApi(access));
  const [messages, setMessages] = useState<ThreadUIMessage[]>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    api.loadMessages().then(setMessages, (error: Error) => setFailure(error.message));
  }, [api]);
  if (failure !== undefined) return <p role="alert">{failure}</p>;
  return messages && <ChatView chatId={access.chatId} api={api} messages={messages} />;
};

const Page = ({ access }: { readonly access: Access | undefined }) => (
  <main>
    <header>
      <h1>Notes</h1>
      {access && (
        <button
          type="button"
          onClick={() => {
            location.hash = chatLink(newChatId());
            location.reload();
          }}
        >
          New chat
        </button>
      )}
    </header>
    {access ? <App access={access} /> : <p>Open the link that the server has written: it names a token.</p>}
  </main>
);

const root = document.getElementById("app");
if (root) createRoot(root).render(<Page access={readAccess()} />);
