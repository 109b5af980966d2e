/** The kinds of frame (RFC 6455, 5.2); from `close` on they are control frames. */
export const OPCODE = {continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa} as const

/** Why a connection is closed (RFC 6455, 7.4.1, and the registry of IANA). */
export const CLOSE = {
  normal: 1000,
  going_away: 1001,
  protocol_error: 1002,
  /** A close frame without a code; never written. */
  none: 1005,
  policy: 1008,
  internal_error: 1011,
  try_again_later: 1013,
} as const
