import type {Dispatcher} from 'undici'
import {Refusal} from '../../base/errors.ts'
import {LineTooLongFault} from '../../base/lines.ts'
import {LocalExchange, type LocalResponse} from '../../base/local-exchange.ts'
import {FormFault, readParts} from '../../base/multipart-stream.ts'
import {variantOf} from '../../providers/base-urls/base-url.ts'
import {errorBody} from '../../providers/chat.ts'
import {supports, translationFor} from '../../providers/clients.ts'
import {plainFault} from '../../providers/openai/fault.ts'
import {type OperationInput, type ProviderOperation, type Upstream, UpstreamFault} from '../../providers/operation.ts'
import {optionIn} from '../../providers/options.ts'
import type {Provider} from '../../providers/provider.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../../providers/translation.ts'
import {applyParams} from '../../routing/params.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {checkModels, checkNamed} from '../call/model-access.ts'
import {queryOf} from '../call/operation.ts'
import {wholeOf} from '../inbound/body.ts'
import {asUntranslatable} from '../inbound/error-response.ts'
import {messageOf} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {modelFor, splitModel} from '../targets/target.ts'
import {leavingQuery} from './client-headers.ts'
import {type SubRequestServices, SubRequests, type UpstreamOf} from './sub-requests.ts'
import {adapted, isStrict, JSON_TYPE} from './translate.ts'

/** The services of an operation of several requests. */
export type MultiRequestServices = SubRequestServices & Uses<'fileStore'>

export interface OperationContext extends UpstreamOf {
  readonly model: string | null
}

/**
 * Answers an attempt in the provider's place: a provider operation is run, which calls the provider as often as it
 * needs, and its result is one answer. So an operation has one intent and one settlement, however many calls it is.
 */
export class MultiRequest {
  readonly #operation: ProviderOperation
  readonly #of: OperationContext
  readonly #upstream: SubRequests
  readonly #services: MultiRequestServices
  readonly #given_up = new AbortController()
  #request: AsyncIterableIterator<Buffer> | null = null

  constructor(operation: ProviderOperation, of: OperationContext, services: MultiRequestServices) {
    this.#operation = operation
    this.#of = of
    this.#services = services
    this.#upstream = new SubRequests(of, this.#given_up.signal, services)
  }

  /** The place that was called last. */
  get url(): string | null {
    return this.#upstream.url
  }

  dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // Whatever is left of a call upstream ends with the operation.
    const exchange = new LocalExchange(handler, reason => {
      this.#given_up.abort(reason ?? new Refusal('client.gone'))
      this.#leaveRequest()
    })
    this.#upstream.onMoved = piece => handler.onBodySent?.(piece)
    void exchange.run(() => this.#answer())
    return true
  }

  /** The provider's calls that read the work in an answer, apart from the answer. */
  upstream(signal: AbortSignal): Upstream & {readonly url: string | null} {
    return new SubRequests(this.#of, signal, this.#services)
  }

  /** The output of a batch, as the client would be given it. The operation has to be the one for outputs. */
  async output(batch_id: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.contentOf(batch_id, signal)
  }

  /** The content of an id at its provider. The operation has to be one that returns content. */
  async contentOf(id: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const request = {...this.#operationInput(this.#context()), id, body: NOTHING, form: null}
    const result = await this.#operation(request, new SubRequests(this.#of, signal, this.#services))
    if ('content' in result) return result.content
    throw new InvalidResponseFault('expected content')
  }

  async #answer(): Promise<LocalResponse> {
    const {provider, call} = this.#of
    const context = this.#context()
    try {
      const result = await this.#operation(this.#operationInput(context), this.#upstream)
      if ('json' in result) return jsonAnswer(200, result.json)
      // A fault before the first byte still has a status of its own.
      const content = result.content[Symbol.asyncIterator]()
      const first = await content.next()
      return {status: 200, headers: {'content-type': result.content_type}, chunks: this.#content(first, content)}
    } catch (fault) {
      if (!(fault instanceof UpstreamFault)) throw refusalIn(fault, provider.slug)
      this.#services.log.debug(
        {status: fault.status, url: this.url, trace_id: call.trace.trace_id},
        'an errand ended with a call of it',
      )
      return jsonAnswer(fault.status, errorBody(context, faultsOf(provider)(fault.status, fault.body, context)))
    }
  }

  async *#content(first: IteratorResult<Buffer>, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
    const {slug} = this.#of.provider
    try {
      for (let next = first; !next.done; next = await rest.next()) yield next.value
    } catch (fault) {
      if (fault instanceof UpstreamFault)
        throw new Refusal('upstream.told', {message: `${slug} answered ${fault.status}`}, {cause: fault})
      throw refusalIn(fault, slug)
    } finally {
      await rest.return?.()
    }
  }

  #context(): TranslationContext {
    const {call, target, provider, model} = this.#of
    const named = model ?? call.incoming.own.values['provider-model'] ?? optionIn(target.options, 'aws_bedrock_model')
    return {
      provider: provider.slug,
      model: named === undefined ? '' : bare(named),
      is_stream: false,
      strict: isStrict(call, target),
      options: target.options,
      call_id: call.id,
      created_s: Math.floor(call.at_ms / 1000),
      report: adaptation => adapted(call, adaptation),
    }
  }

  #operationInput(context: TranslationContext): OperationInput {
    const {call, target} = this.#of
    const {incoming, body} = call
    const own = incoming.own.values
    if (context.model !== '') checkModels(target, call, [context.model])
    const {
      'file-purpose': purpose,
      'file-upload-size': bytes,
      'provider-file-name': name,
      'provider-batch-endpoint': rows,
    } = own
    if (bytes !== undefined && !/^[1-9]\d{0,14}$/.test(bytes))
      throw new Refusal('header.invalid', {
        header: `${incoming.own.prefix}-file-upload-size`,
        reason: 'expected a number of bytes',
      })
    return {
      id: idIn(incoming.route.path),
      query: new URLSearchParams(leavingQuery(queryOf(call), this.#of.credentials, this.#services)),
      body: body.kind === 'json' ? applyParams(wholeOf(body), target.params) : NOTHING,
      form: this.#form(),
      file_headers: {
        ...(purpose && {purpose}),
        ...(bytes && {bytes: Number(bytes)}),
        ...(name && {name}),
        ...(rows && {rows}),
      },
      context,
      shelf: this.#services.fileStore(call.caller.workspace_id, target.provider.slug),
      allow: model => checkNamed(target, call, modelFor(target.provider, model)),
      words: (endpoint, model) => this.#words(endpoint, model),
    }
  }

  #form(): OperationInput['form'] {
    const {body, incoming} = this.#of.call
    const type = incoming.headers['content-type'] ?? ''
    if (body.kind === 'form') return readParts(once(body.bytes), type)
    if (body.kind !== 'stream') return null
    // The request outlives what is read of it: its connection still has to carry the answer.
    this.#request = body.judged ? iterated(body.judged.chunks) : messageOf(incoming).iterator({destroyOnReturn: false})
    return readParts(body.judged ? this.#request : behind(body.lead, this.#request), type)
  }

  /** The rest of the request is ignored: a client that still sends it would not read the answer. */
  #leaveRequest() {
    const {incoming} = this.#of.call
    void this.#request?.return?.().then(() => messageOf(incoming).resume())
  }

  #words(endpoint: EndpointName, named: string): Translation | null {
    const {target} = this.#of
    const model = bare(named)
    const provider = variantOf(target.provider, model, target.options)
    const words = translationFor(provider, endpoint)
    if (words) return words.translation
    if (supports(provider, endpoint)) return null
    throw new UnsupportedInputFault('url', `the provider has no such endpoint (${endpoint})`)
  }
}

/** A provider's reader of faults: lists of models may be all that is fetched from it in calls of its own. */
function faultsOf({operations, translations}: Provider) {
  return operations?.fault ?? translations?.fault ?? plainFault
}

const NOTHING: Json = {}
/** The segments behind an id in a path of the table. */
const AFTER_ID = /\/(?:content|cancel|output)$/
const MAX_DECODED = 3

/** The id in a path: ids with slashes come percent-encoded, once by us and once more by careful clients. */
export function idIn(path: string): string {
  const rest = /^\/(?:files|batches|fine_tuning\/jobs)\/(.+)$/.exec(path)?.[1] ?? ''
  return plainId(rest.replace(AFTER_ID, ''))
}

/** An id as its provider writes it: ids with slashes are percent-encoded in the gateway's replies. */
export function plainId(text: string): string {
  let id = text
  for (let times = 0; times < MAX_DECODED && id.includes('%'); times++) {
    try {
      id = decodeURIComponent(id)
    } catch {
      break
    }
  }
  return id
}

function bare(model: string): string {
  return splitModel(model)[1]
}

async function* iterated(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
}

async function* behind(lead: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* lead
  yield* rest
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

function jsonAnswer(status: number, json: Json): LocalResponse {
  const bytes = Buffer.from(JSON.stringify(json))
  return {status, headers: {'content-type': JSON_TYPE, 'content-length': String(bytes.length)}, chunks: [bytes]}
}

function refusalIn(fault: unknown, provider: string): unknown {
  if (fault instanceof UnsupportedInputFault) return asUntranslatable(fault, provider)
  if (fault instanceof InvalidResponseFault)
    return new Refusal('upstream.bad_reply', {provider, reason: fault.message.replace(/\.$/, '')}, {cause: fault})
  if (fault instanceof FormFault)
    return new Refusal('body.invalid', {issues: `The form cannot be read: ${fault.message}.`}, {cause: fault})
  if (fault instanceof Error && fault.name === 'FileStoreFullFault')
    return new Refusal('body.invalid', {issues: `The file cannot be kept: ${fault.message}.`}, {cause: fault})
  if (fault instanceof LineTooLongFault)
    return new Refusal('body.invalid', {issues: `The file cannot be read: ${fault.message}.`}, {cause: fault})
  return fault
}
