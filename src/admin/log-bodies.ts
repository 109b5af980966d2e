import {decodedBody} from '../base/content-encoding.ts'
import {parseJson} from '../base/json-object.ts'

/**
 * A kept body as it is shown: JSON where it is an object or a list, else text. What cannot be decoded, or comes to more
 * than 32 MB, is shown as it is stored: `{content_encoding, base64}`.
 */
export async function readLogBody(bytes: Uint8Array, encoding: string | null): Promise<unknown> {
  const plain = await decodedBody(bytes, encoding)
  if (plain) return fromText(plain)
  return {
    content_encoding: encoding,
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  }
}

const decoder = new TextDecoder()

function fromText(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes)
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
