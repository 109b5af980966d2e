import {object, parsed} from '../../base/json-object.ts'
import type {Json} from '../translation.ts'

/** Marks `encrypted_content` as ours; what OpenAI writes there does not begin so. */
const MARK = 'gw1.'

/**
 * The data that a provider wants back with its thinking, as the `encrypted_content` of a reasoning item, which a client
 * sends back unread: the signature, or redacted thinking's data. Null when there is neither. It is no secret and not
 * encrypted by us.
 */
export function sealThought(thought: {readonly signature: string} | {readonly data: string}): string | null {
  const word = 'data' in thought ? thought.data : thought.signature
  return word ? MARK + Buffer.from(JSON.stringify(thought)).toString('base64url') : null
}

/** The block of `content_blocks` that a reasoning item stands for; null for what no provider behind chat could read. */
export function openThought(encrypted_content: unknown, thinking: string): Json | null {
  if (typeof encrypted_content !== 'string' || !encrypted_content.startsWith(MARK)) return null
  const thought = read(encrypted_content.slice(MARK.length))
  if (typeof thought.data === 'string') return {type: 'redacted_thinking', data: thought.data}
  return typeof thought.signature === 'string' ? {type: 'thinking', thinking, signature: thought.signature} : null
}

function read(sealed: string): Json {
  return object(parsed(Buffer.from(sealed, 'base64url').toString('utf8')))
}
