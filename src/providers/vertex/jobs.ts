import {vertexModel, vertexParent, vertexPublisher} from '../base-urls/vertex.ts'
import {word} from '../gemini/read.ts'
import {type CloudJobs, jobsIn} from '../jobs/cloud.ts'
import type {ProviderPage} from '../jobs/pages.ts'
import type {OperationInput, Upstream} from '../operation.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'

/**
 * Jobs of one kind: `batchPredictionJobs`, `tuningJobs` (Vertex AI API reference). Ids are the numbers their names end
 * with.
 */
export class Jobs implements CloudJobs {
  readonly #kind: string
  readonly #context: TranslationContext
  readonly #upstream: Upstream

  constructor(kind: string, {context}: OperationInput, upstream: Upstream) {
    this.#kind = kind
    this.#context = context
    this.#upstream = upstream
  }

  async create(body: Json): Promise<Json> {
    return await (await this.#upstream.ask({method: 'POST', path: this.#parent(), body})).json()
  }

  async get(id: string): Promise<Json> {
    return await (await this.#upstream.ask({method: 'GET', path: this.#path(id)})).json()
  }

  async cancel(id: string): Promise<void> {
    ;(await this.#upstream.ask({method: 'POST', path: `${this.#path(id)}:cancel`})).drop()
  }

  async page(token: string | null, size: number): Promise<ProviderPage<Json>> {
    const query = new URLSearchParams({pageSize: String(size), ...(token && {pageToken: token})})
    const reply = await (await this.#upstream.ask({method: 'GET', path: `${this.#parent()}?${query}`})).json()
    return {items: jobsIn(reply[this.#kind]), next: word(reply.nextPageToken)}
  }

  #parent(): string {
    return `${vertexParent(this.#context.options)}/${this.#kind}`
  }

  #path(id: string): string {
    const number = id.split('/').at(-1)!
    if (!/^\w{1,64}$/.test(number)) throw new UnsupportedInputFault('id', 'expected the number of a job')
    return `${this.#parent()}/${number}`
  }
}

/** The number that a resource's name ends with. */
export function numberOf(name: unknown): string | null {
  return word(name)?.split('/').at(-1) ?? null
}

/** A model as jobs name it: `publishers/google/models/gemini-…`; one of the project's own stays as it is. */
export function modelResource(model: string): string {
  if (/^projects\/[\w-]+\/locations\/[\w-]+\/(?:models|endpoints)\/[\w@.-]+$/.test(model)) return model
  const {publisher, name} = vertexPublisher(model) ?? {
    publisher: 'google',
    name: model.replace(/^(?:publishers\/google\/)?models\/|^google[./]/, ''),
  }
  if (publisher === 'endpoints') throw new UnsupportedInputFault('model', 'a batch is for a model, not for an endpoint')
  return `publishers/${publisher}/models/${decodeURIComponent(vertexModel(name))}`
}

/** The model of a resource, as clients name it. */
export function modelOf(resource: unknown): string {
  const found = /^(?:.*\/)?publishers\/([\w-]+)\/models\/([\w@.-]+)$/.exec(word(resource) ?? '')
  if (!found) return word(resource) ?? ''
  return found[1] === 'google' ? found[2]! : `${found[1]!}.${found[2]!}`
}
