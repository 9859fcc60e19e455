import { createStdioChannel } from "@harnesskit/transport-stdio";
import { createPeer } from "@harnesskit/wire/rpc";

createPeer(createStdioChannel(), { request: (_method, params) => params });
