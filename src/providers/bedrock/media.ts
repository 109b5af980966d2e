import {type Json, UnsupportedInputFault} from '../translation.ts'

const LONGEST_TYPE = 200
const LONGEST_NAME = 200

/**
 * A `data:` URI in base64 as its type and its text; the text is a slice, no copy. Anything else is refused: Bedrock
 * fetches nothing from the web, and a translation has no network.
 */
export function readDataUri(url: string, field: string): {readonly mime: string; readonly base64: string} {
  if (!url.startsWith('data:')) {
    throw new UnsupportedInputFault(
      field,
      'Amazon Bedrock fetches nothing from the web: expected the bytes as a base64 data: URI, or an s3:// address',
    )
  }
  const comma = url.indexOf(',')
  const head = comma < 0 ? '' : url.slice(5, Math.min(comma, 5 + LONGEST_TYPE)).toLowerCase()
  if (!head.endsWith(';base64') || comma === url.length - 1)
    throw new UnsupportedInputFault(field, 'expected a data: URI in base64')
  return {mime: head.split(';', 1)[0]!, base64: url.slice(comma + 1)}
}

/** An object in S3; Bedrock reads it with the rights of the caller. */
export function s3Source(url: string, field: string): Json {
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/./.test(url) || url.length > 1100) {
    throw new UnsupportedInputFault(field, 'expected an address like s3://bucket/key')
  }
  return {s3Location: {uri: url}}
}

/**
 * A file's name as Converse takes them: letters, digits, hyphens, brackets and single spaces, and no two alike in one
 * request. A name with its ending would be refused for the dot.
 */
export function documentName(name: string | undefined, used: Set<string>): string {
  const base = (name ?? '').slice(-4 * LONGEST_NAME).replace(/^.*[\\/]/s, '')
  const stem = base.replace(/\.[A-Za-z0-9]{1,5}$/, '')
  const plain = stem
    .replace(/[^A-Za-z0-9()[\] -]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME - 8)
    .trimEnd()
  const first = plain || 'document'
  let unique = first
  for (let next = used.size + 1; used.has(unique); next++) unique = `${first} ${next}`
  used.add(unique)
  return unique
}
