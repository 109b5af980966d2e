/** Headers of a frame: strings, or values of a wire type given with it. */
export type FrameHeaders = readonly (readonly [
  name: string,
  value: string | {readonly type: number; readonly bytes: Buffer},
])[]

/**
 * An event-stream message, made from Amazon's description of the format and from nothing under test: its own checksum
 * as well.
 */
export function frame(headers: FrameHeaders, payload: Buffer | string): Buffer {
  const head = Buffer.concat(
    headers.map(([name, value]) => {
      const {type, bytes} = typeof value === 'string' ? {type: 7, bytes: sized(Buffer.from(value))} : value
      return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([type]), bytes])
    }),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.concat([uint32(16 + head.length + body.length), uint32(head.length)])
  const message = Buffer.concat([prelude, uint32(checksum(prelude)), head, body])
  return Buffer.concat([message, uint32(checksum(message))])
}

/**
 * As Bedrock writes an event, an exception (`!name`) and an error of the connection (`?code`, its message as payload).
 */
export function eventFrame(name: string, payload: unknown): Buffer {
  if (name.startsWith('?')) {
    return frame(
      [
        [':error-code', name.slice(1)],
        [':error-message', String(payload)],
        [':message-type', 'error'],
      ],
      '',
    )
  }
  const is_exception = name.startsWith('!')
  const kind = is_exception ? ([':exception-type', name.slice(1)] as const) : ([':event-type', name] as const)
  const type = is_exception ? 'exception' : 'event'
  return frame([kind, [':content-type', 'application/json'], [':message-type', type]], JSON.stringify(payload))
}

/** Two bytes of length, then `bytes`: how byte arrays and strings stand in a header. */
export function sized(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
}

function uint32(value: number): Buffer {
  return Buffer.from([value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff])
}

/** CRC-32 (ISO 3309), bit by bit. */
export function checksum(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
