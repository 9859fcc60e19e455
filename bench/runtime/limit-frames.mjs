/** The hand-written framing: four bytes of length, JSON, one write a tick; no limit, no error. Eight KiB leave earlier. */
export const frames = (socket, onMessage) => {
  let chunks = [];
  let length = 0;
  let wanted = 4;
  let out = [];
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length < wanted) return;
    const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, length);
    let at = 0;
    wanted = 4;
    while (bytes.length - at >= 4) {
      const end = at + 4 + bytes.readUInt32BE(at);
      if (end > bytes.length) {
        wanted = end - at;
        break;
      }
      onMessage(JSON.parse(bytes.utf8Slice(at + 4, end)));
      at = end;
    }
    chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    length = bytes.length - at;
  });
  let pending = 0;
  const flush = () => {
    if (out.length === 0) return;
    pending = 0;
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
    pending += frame.length;
    if (pending >= 8192) flush();
  };
};
