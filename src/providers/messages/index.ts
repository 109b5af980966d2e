import type {ClientDialect} from '../translation.ts'
import {messageError} from './error.ts'
import {toMessage} from './reply.ts'
import {messagesToChat} from './request.ts'
import {openMessageStream} from './stream.ts'

export {countTokens} from './count.ts'
export {hasOwnShape, purposePart, shapedError, shapedQuery, shapedReply} from './lists.ts'
export {nativeMessages} from './native.ts'
export {withoutOwnMembers} from './own-members.ts'
export {withEffort} from './thinking.ts'

/** Anthropic Messages (docs.anthropic.com/en/api/messages, version 2023-06-01) on any provider that has chat. */
export const messagesClient: ClientDialect = {
  toChat: messagesToChat,
  fromChat: toMessage,
  openStream: openMessageStream,
  error: messageError,
}
