import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'
import {openModelList} from '../../identity/model-lists.ts'
import type {RoutingFacts} from '../../routing/plan.ts'
import type {DescribedRequest, ImaginedCaller} from '../../schema/explanations.ts'
import {type Body, isRead, readAs, streamBody} from '../inbound/body.ts'
import {type InboundRequest, parseRequest, type RequestCredentials, readCredentials} from '../inbound/request.ts'
import type {Caller, Uses} from '../services.ts'
import {type Call, nameUser, openCall} from './call.ts'
import {CallFacts} from './routing-facts.ts'

type Services = Uses<'administered' | 'masked' | 'settings' | 'steady'>

/** A call that is not made, as far as it says where it would go and what would leave. */
export interface DryRunCall {
  readonly call: Call
  readonly credentials: RequestCredentials
  readonly facts: RoutingFacts
}

/** One for all: nothing of it is shown, and the same call must give the same answer twice. */
const ID = '00000000-0000-7000-8000-000000000000'

/**
 * A request as the call it would be; `config`, a slug or JSON, goes before the one that its headers name. Refuses as
 * the entry would what is no call at all, but asks for no key. Limits claim nothing of it.
 */
export function dryRunCall(
  {method, path, headers = {}, body}: DescribedRequest,
  {
    caller,
    config,
    at_ms,
    services,
  }: {caller: ImaginedCaller; config: string | undefined; at_ms: number; services: Services},
): DryRunCall {
  const bytes = body === undefined ? null : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const sent_headers = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (bytes && !sent_headers.has('content-type')) sent_headers.set('content-type', 'application/json')
  if (config !== undefined) {
    sent_headers.delete('x-portkey-config')
    sent_headers.set('x-gateway-config', config)
  }
  const request = {method, url: path, headers: Object.fromEntries(sent_headers)} as unknown as IncomingMessage
  const incoming = parseRequest(request, at_ms, 0, services.administered)
  const opened = openCall('call', incoming, wholeCaller(caller), services)
  const call: Call = {...opened, id: ID, log_id: ID, keeps_bodies: false, auth_ms: 0, body: bodyOf(incoming, bytes)}
  nameUser(call)
  return {call, credentials: credentialsOf(incoming), facts: new CallFacts(call)}
}

/** A longer one is refused: it is remembered for a while, and anybody who may read configs may ask. */
const MAX_CONFIG_LENGTH = 1 << 20

/** The text of a config: its JSON, or the slug of a saved one. */
export function configText(config: string | object): string {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  if (text.length > MAX_CONFIG_LENGTH) throw new Refusal('config.invalid', {issues: 'config: is longer than 1 MB'})
  return text
}

/** A caller of the workspace whose key forbids nothing and has no limits. */
export function wholeCaller({models, ...caller}: ImaginedCaller): Caller {
  const list = models ? openModelList(models.whose, models.column) : null
  return {
    ...caller,
    kind: 'api_key',
    id: '',
    user_id: null,
    allow_config_override: true,
    limits: [],
    models: list && [list],
  }
}

/** A request without a key of ours is taken to have shown one elsewhere. */
function credentialsOf(incoming: InboundRequest): RequestCredentials {
  try {
    return readCredentials(incoming)
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.code !== 'key.missing') throw fault
    return {service_key: '', from: 'own', provider_token: null}
  }
}

function bodyOf({route, headers}: InboundRequest, bytes: Buffer | null): Body {
  if (!bytes?.length) {
    if (route.endpoint?.body === 'json') throw new Refusal('body.not_json', {reason: 'it is empty'})
    return {kind: 'none'}
  }
  const type = headers['content-type'] ?? ''
  return isRead(type, route.endpoint) ? readAs(bytes, type, route.endpoint) : streamBody()
}
