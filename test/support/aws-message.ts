import {crc32} from 'node:zlib'

/** One message of `application/vnd.amazon.eventstream` whose payload is JSON. */
export function awsMessage(event: string, payload: object): Buffer {
  const headers = Buffer.concat([header(':message-type', 'event'), header(':event-type', event)])
  const body = Buffer.from(JSON.stringify(payload))
  const message = Buffer.alloc(16 + headers.length + body.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(headers.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  headers.copy(message, 12)
  body.copy(message, 12 + headers.length)
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4)
  return message
}

function header(name: string, value: string): Buffer {
  const bytes = Buffer.alloc(1 + name.length + 3 + value.length)
  bytes.writeUInt8(name.length, 0)
  bytes.write(name, 1)
  bytes.writeUInt8(7, 1 + name.length)
  bytes.writeUInt16BE(value.length, 2 + name.length)
  bytes.write(value, 4 + name.length)
  return bytes
}
