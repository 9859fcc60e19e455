import { createStdioChannel } from "@harnesskit/transport-stdio";
import { createPeer } from "@harnesskit/wire";

createPeer(createStdioChannel(), { request: (_method, params) => params });
