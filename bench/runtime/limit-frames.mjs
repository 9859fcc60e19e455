/** The hand-written framing: four bytes of length, JSON, one write a tick; no limit, no error. */
export const frames = (socket, onMessage) => {
  let rest = Buffer.alloc(0);
  let out = [];
  socket.on("data", (chunk) => {
    const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= 4) {
      const end = at + 4 + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      onMessage(JSON.parse(bytes.utf8Slice(at + 4, end)));
      at = end;
    }
    rest = bytes.subarray(at);
  });
  const flush = () => {
    socket.write(out.length === 1 ? out[0] : Buffer.concat(out));
    out = [];
  };
  return (message) => {
    const text = JSON.stringify(message);
    const length = Buffer.byteLength(text);
    const frame = Buffer.allocUnsafe(4 + length);
    frame.writeUInt32BE(length, 0);
    frame.utf8Write(text, 4);
    if (out.length === 0) queueMicrotask(flush);
    out.push(frame);
  };
};
