import {type ClientRequest, FastRequest} from '../../base/ingress/request.ts'
import {McpFault, printable} from '../wire/faults.ts'

/** A longer body is refused. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024
const JSON_TYPE = /^application\/json(?:\s*;|\s*$)/i
const UTF8 = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true})

/** The text of a POST. Throws `media_type` (415), `body_too_large` (413), or `parse_error` for what is no UTF-8. */
export async function readBodyText(request: ClientRequest): Promise<string> {
  const {'content-type': type = '', 'content-encoding': encoding = 'identity'} = request.headers
  if (!JSON_TYPE.test(type)) throw new McpFault('media_type', {content_type: type === '' ? '(none)' : printable(type)})
  if (encoding.toLowerCase() !== 'identity')
    throw new McpFault('media_type', {content_type: `with the encoding ${printable(encoding)}`})
  const too_large = () => new McpFault('body_too_large', {limit: MAX_BODY_BYTES})
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw too_large()
  const bytes = request instanceof FastRequest ? await request.body() : await bytesOf(request, too_large)
  try {
    return UTF8.decode(bytes)
  } catch (cause) {
    throw new McpFault('parse_error', {reason: 'it is not UTF-8'}, {cause})
  }
}

/** By events: an iterator over the request costs a hundredth of a call. */
function bytesOf(request: Exclude<ClientRequest, FastRequest>, too_large: () => McpFault): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MAX_BODY_BYTES) return void chunks.push(chunk)
      request.off('data', take)
      reject(too_large())
    }
    const left = () => reject(new Error('The client left before the end of its request.'))
    request.on('data', take)
    request.once('error', reject)
    request.once('close', left)
    request.once('end', () => {
      request.off('close', left)
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
  })
}
