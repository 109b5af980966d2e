import {hash} from 'node:crypto'

/** Ids of tool calls that the APIs of Anthropic, OpenAI and Bedrock take. */
const FIT = /^[\w-]{1,64}$/
const WRITTEN = 'call_w_'
const HASHED = 'call_h_'
/** Of an id of so many bytes the written form fits. */
const MOST_BYTES = 42

/**
 * The id of a tool call for the client. Other APIs refuse ids such as Kimi's `functions.Bash:0`, and a client that
 * changes its provider sends them there: such an id is written in base64url, and `providerCallId` reads it. Of an id
 * that is too long for that it is a hash: call and result have the same one at each provider.
 */
export function clientCallId(id: string): string {
  if (FIT.test(id) && !id.startsWith(WRITTEN)) return id
  return Buffer.byteLength(id) <= MOST_BYTES
    ? WRITTEN + Buffer.from(id).toString('base64url')
    : HASHED + hash('sha256', id, 'base64url')
}

/** The id that the provider gave: what `clientCallId` wrote is read, and any other id is the client's own. */
export function providerCallId(id: string): string {
  if (!id.startsWith(WRITTEN)) return id
  const given = Buffer.from(id.slice(WRITTEN.length), 'base64url').toString()
  return clientCallId(given) === id ? given : id
}
