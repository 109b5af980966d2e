import {Refusal} from '../../base/errors.ts'
import {TemplateFault} from '../../base/mustache/parse.ts'
import {promptedCall, type ReadyPrompt, readyPrompt} from '../../prompts/call.ts'
import {readNamed} from '../../prompts/selector.ts'
import {ENDPOINTS, type Endpoint} from '../../schema/endpoints.ts'
import {PromptCall} from '../../schema/prompts.ts'
import {explain} from '../../schema/validation-message.ts'
import {type Remembered, RowCache} from '../../store/remembered.ts'
import type {Call} from '../call/call.ts'
import {type JsonBody, readJson, wholeOf} from '../inbound/body.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Caller, Uses} from '../services.ts'

type Services = Uses<'findPartial' | 'findPrompt'>

/** A version of a prompt, read with its partials. */
interface KnownPrompt {
  readonly id: string
  readonly slug: string
  readonly version: number
  readonly version_id: string
  readonly ready: ReadyPrompt
  readonly chars: number
}

const MAX_CHARS = 64 * 2 ** 20

/** Remembers prompts as calls name them, until a row changes that one of them is made of. */
export class Prompts {
  readonly #services: Services
  readonly #known = new RowCache<KnownPrompt>({
    max: 4096,
    maxSize: MAX_CHARS,
    sizeCalculation: ({chars}) => chars,
  })
  readonly remembered: readonly Remembered[] = [
    {of: new Set(['prompts', 'prompt_versions']), forget: ids => this.#known.forget(ids)},
    {
      // as a whole: which version bears a label has no id, and which partials a prompt holds is not known here
      of: new Set(['labels', 'prompt_labels', 'prompt_partials', 'prompt_partial_versions']),
      forget: () => this.#known.forget(null),
    },
  ]

  constructor(services: Services) {
    this.#services = services
  }

  /**
   * `said` is the id or slug, with an `@version` or `@label` unless the published version is meant. Undefined: there is
   * none.
   */
  async find(caller: Caller, reference: string, is_fresh: boolean): Promise<KnownPrompt | undefined> {
    const key = `${caller.workspace_id}\n${reference}`
    const known = is_fresh ? undefined : this.#known.get(key)
    if (known) return known
    const born = this.#known.generation
    const {named, meant} = readNamed(reference)
    const found = await this.#services.findPrompt(caller, named, meant)
    if (!found) return undefined
    const {id, slug, version, version_id, template} = found
    let chars = 1000 + template.string.length
    const ready = await readyPrompt(template, async ref => {
      const text = await this.#services.findPartial(caller, ref)
      chars += text?.length ?? 0
      return text
    })
    const prompt = {id, slug, version, version_id, ready, chars}
    this.#known.set(key, prompt, {born, rows: [id, version_id]})
    return prompt
  }
}

/** True for a call that names a prompt in place of saying what it asks. */
export function isPrompted({route}: InboundRequest): boolean {
  return route.endpoint?.name === 'promptComplete'
}

/**
 * Makes of a call of a prompt the call of the model that it stands for: body, route and where it goes. What the request
 * says itself, in its body or its headers, goes before what is saved.
 */
export async function enterPrompt(call: Call, prompts: Prompts): Promise<void> {
  const {body, caller, incoming} = call
  const id_text = idIn(incoming.route.path)
  if (body.kind !== 'json')
    throw new Refusal('body.content_type', {content_type: 'of the request', expected: 'application/json'})
  const {variables, ...overrides} = readCall(body)
  try {
    const prompt = await prompts.find(caller, id_text, incoming.own.values['refresh-prompt-cache'] === 'true')
    if (!prompt) throw new Refusal('prompt.unknown', {prompt: id_text.slice(0, 255)})
    const {endpoint: name, body: fields} = promptedCall(prompt.ready, variables, overrides)
    const endpoint = WORDS[name]
    const {id, slug, version, version_id} = prompt
    call.prompt = {slug, id, version, version_id} // in this order: the log is searched for how it is written
    call.endpoint = name
    call.incoming = directed(incoming, endpoint, prompt.ready.template.virtual_key)
    call.body = readJson(written(fields, body, overrides), endpoint)
  } catch (fault) {
    if (fault instanceof TemplateFault)
      throw new Refusal('prompt.unrenderable', {prompt: id_text.slice(0, 255), reason: fault.message})
    throw fault
  }
}

/**
 * The body as bytes; the client's own values as it wrote them, for numbers can change when they are parsed and written
 * again.
 */
function written(fields: Readonly<Record<string, unknown>>, {bytes, members}: JsonBody, overrides: object): Buffer {
  const parts = Object.entries(fields).map(([key, value]) => {
    const span = Object.hasOwn(overrides, key) ? members.get(key) : undefined
    return `${JSON.stringify(key)}:${span ? bytes.toString('utf8', span.start, span.end) : JSON.stringify(value)}`
  })
  return Buffer.from(`{${parts.join(',')}}`)
}

const endpointOf = (name: Endpoint['name']) => ENDPOINTS.find(each => each.name === name)!
const WORDS = {chatComplete: endpointOf('chatComplete'), complete: endpointOf('complete')}

function idIn(path: string): string {
  const slug = path.split('/')[2]!
  try {
    return decodeURIComponent(slug)
  } catch {
    return slug
  }
}

function readCall(body: JsonBody) {
  const whole = wholeOf(body)
  const read = PromptCall.safeParse(whole)
  if (read.success) return read.data
  throw new Refusal('body.invalid', {issues: explain(read.error, PromptCall, whole, {root: 'the request body'})})
}

/** To the prompt's provider or config, where the request names none. */
function directed(incoming: InboundRequest, endpoint: Endpoint, virtual_key: string): InboundRequest {
  const {own, route} = incoming
  const {values} = own
  const is_config = virtual_key.startsWith('pc-')
  const is_named = is_config
    ? values.config || values.provider || values['virtual-key']
    : values.provider || values['virtual-key']
  const direction = is_named ? {} : is_config ? {config: virtual_key} : {'virtual-key': virtual_key}
  return {
    ...incoming,
    route: {...route, endpoint, path: endpoint.path},
    own: {...own, values: {...values, ...direction}},
  }
}
