import {Refusal} from '../../base/errors.ts'
import {FastRequest, remoteAddressOf} from '../../base/ingress/request.ts'
import type {ClientResponse} from '../../base/ingress/response.ts'
import {parsedObject} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {ServerTools, ToolsCaller} from '../../schema/server-tools.ts'
import {authenticate} from '../call/authenticate.ts'
import type {ClientCall} from '../call/call.ts'
import {readBody} from '../call/read-body.ts'
import type {CallState} from '../call/state.ts'
import type {ReceivedRequest, RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {RunDialect} from './dialect.ts'
import {toolHeaders} from './inner-headers.ts'
import {isSlug} from './labels.ts'
import {MESSAGES} from './messages.ts'
import {RunOffer, type ServerChoice} from './offer.ts'
import {RESPONSES} from './responses.ts'
import {ToolRun} from './tool-run.ts'

const DIALECTS: Readonly<Partial<Record<EndpointName, RunDialect>>> = {
  createModelResponse: RESPONSES,
  messages: MESSAGES,
}
const SCOPE = 'mcp.invoke'
/** A longer list of functions is more than a model can choose from, and than providers take. */
const MOST_TOOLS = 512

/** A request whose client lets the gateway run tools. */
export interface RunRequest {
  readonly call: ClientCall
  readonly incoming: ReceivedRequest
  readonly state: CallState
  readonly credentials: RequestCredentials
  readonly tools: ServerTools
  readonly services: Uses<'after' | 'findCaller' | 'findCallerByCredential' | 'now' | 'settings'>
  handle(request: FastRequest, response: ClientResponse): void
}

/**
 * Runs a request that names servers of the gateway, and gives null at its end. For another one it gives a request with
 * the bytes of its body, which were read here: it is a call like any other. Throws a `Refusal`.
 */
export async function enterToolRun(of: RunRequest): Promise<FastRequest | null> {
  const {call, incoming, state, services, credentials, tools} = of
  const dialect = DIALECTS[call.endpoint]
  call.body = await readBody(call, state, services)
  if (call.body.kind !== 'json') throw new Refusal('body.not_json', {reason: 'it is no object'})
  const {bytes} = call.body
  const text = bytes.toString('utf8')
  const body = parsedObject(text)
  const choices = body && dialect ? dialect.choices(body) : []
  if (!body || !dialect || choices.length === 0) return passedOn(incoming, bytes)
  await state.wait('authenticating', Promise.resolve(authenticate(credentials, SCOPE, services, incoming)))
  const caller: ToolsCaller = {
    credential: credentials.service_key,
    headers: toolHeaders(incoming),
    remote_address: remoteAddressOf(incoming.request),
  }
  const over = new AbortController()
  const listing = listed(choices, tools, caller, over.signal)
  const offer = new RunOffer(
    await state.wait('taking_turns', listing).finally(() => over.abort()),
    dialect.functionsOf(body),
  )
  const run = new ToolRun({...of, dialect, offer, body, text, caller})
  state.enter('taking_turns', run)
  try {
    await run.run()
  } catch (fault) {
    // the rows of its calls say it
    if (!(fault instanceof Refusal && fault.code === 'client.gone')) throw fault
  }
  state.settle()
  return null
}

function passedOn(incoming: ReceivedRequest, bytes: Buffer): FastRequest {
  const {request, method, headers} = incoming
  const {'content-encoding': _, 'transfer-encoding': __, ...kept} = headers
  const of_body = {headers: {...kept, 'content-length': String(bytes.length)}, body_bytes: bytes.length}
  const address = remoteAddressOf(request)
  const again = new FastRequest(method, request.url!, of_body, address === null ? undefined : {remoteAddress: address})
  again.take(bytes)
  return again
}

async function listed(
  choices: readonly ServerChoice[],
  tools: ServerTools,
  caller: ToolsCaller,
  signal: AbortSignal,
): Promise<ConstructorParameters<typeof RunOffer>[0]> {
  const lists = await Promise.all(
    choices.map(async choice => {
      const {slug, label, field} = choice
      const list = isSlug(slug) ? await tools.list(slug, caller, signal) : ({ok: false, status: 404} as const)
      if (list.ok) return {choice, tools: list.tools}
      if (list.status === 404) throw new Refusal('parent.not_found', {field, object: 'MCP server', value: label})
      const reason = 'message' in list ? list.message : ''
      throw new Refusal(list.status < 500 ? 'mcp.refused' : 'mcp.unavailable', {field, label, reason})
    }),
  )
  const count = lists.reduce((sum, {choice, tools: all}) => sum + all.filter(({name}) => choice.allows(name)).length, 0)
  if (count > MOST_TOOLS)
    throw new Refusal('body.invalid', {
      issues: `tools: the MCP servers have ${count} tools, more than the ${MOST_TOOLS} of a run. Name those it needs.`,
    })
  return lists
}
