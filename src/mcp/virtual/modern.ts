import {memberText} from '../../base/json-splice.ts'
import {faultOf, headersOfFault} from '../serve/end.ts'
import type {McpExchange, ServingParts} from '../serve/exchange.ts'
import {serveModern} from '../serve/modern.ts'
import {noteRefused} from '../serve/refused.ts'
import type {ModernRequest} from '../wire/client-era.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {errorObjectText, type McpFault} from '../wire/faults.ts'
import {answerText, paramsText} from '../wire/messages.ts'
import {NO_CLIENT_INFO, type VirtualClient, viewOf} from './client.ts'
import {serveVirtualListen} from './listen.ts'
import type {MeantRequest} from './meant.ts'
import {admitMeant, meantRequest, ownAnswer} from './own-answer.ts'
import {viewsOf} from './views.ts'

/** Serves one request of a modern client of a virtual server. */
export async function serveVirtualModern(
  post: ModernRequest,
  exchange: McpExchange,
  parts: ServingParts,
): Promise<void> {
  const {message, envelope, version} = post
  const client = modernClient(post, exchange)
  if (message.method === 'subscriptions/listen') return serveVirtualListen(post, client, parts)
  const refuse = (fault: McpFault) => {
    const text = answerText(message.id_text, {error: errorObjectText(fault)})
    exchange.reply.end(fault.http, text, headersOfFault(fault))
  }
  let meant: MeantRequest | null = null
  try {
    meant = await meantRequest(message, client, parts)
    if (meant) await admitMeant(meant, parts)
  } catch (thrown) {
    const noted = meant ?? {message, exchange}
    await noteRefused(noted.message, noted.exchange, thrown, parts)
    return refuse(faultOf(thrown, parts.services.log))
  }
  if (meant) {
    await serveModern({...post, message: meant.message}, meant.exchange, parts)
    viewsOf(parts).called(viewOf(client), meant.exchange.server.id)
    return
  }
  const answer = await ownAnswer({message, client, version, client_info: envelope.client_info}, parts)
  if ('fault' in answer) refuse(answer.fault)
  else exchange.reply.end(200, answerText(message.id_text, answer))
}

function modernClient({message, envelope}: ModernRequest, exchange: McpExchange): VirtualClient {
  const meta_text = memberText(paramsText(message)!, '_meta')!
  return {
    ...{exchange, era: 'modern', session_id: null, capabilities: envelope.client_capabilities},
    client_info: memberText(meta_text, META_KEYS.client_info) ?? NO_CLIENT_INFO,
    client_capabilities: memberText(meta_text, META_KEYS.client_capabilities)!,
  }
}
