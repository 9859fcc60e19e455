/** The codes of JSON-RPC errors beside the standard ones. */
export const AhpErrorCode = {
  /** The handshake asked for another major version. */
  UnsupportedVersion: -32000,
} as const;
