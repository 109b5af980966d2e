import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {type RpcAnswer, resultText} from '../wire/messages.ts'
import type {Era} from '../wire/versions.ts'
import type {Hello} from './upstream.ts'

const NOTHING: JsonObject = Object.freeze({})

/** Reads the answer to `initialize` or `server/discover`; a member of another form counts as missing. */
export function helloOf(answer: RpcAnswer, era: Era, protocol_version: string): Hello {
  const result = answer.result ?? NOTHING
  const capabilities = own(result, 'capabilities')
  const info = era === 'modern' ? own(own(result, '_meta'), META_KEYS.server_info) : own(result, 'serverInfo')
  const instructions = own(result, 'instructions')
  return {
    era,
    protocol_version,
    text: resultText(answer) ?? '{}',
    capabilities: isObject(capabilities) ? capabilities : NOTHING,
    server_info: isObject(info) ? info : null,
    instructions: typeof instructions === 'string' ? instructions : null,
  }
}
