import type {PolicyFacts} from '../../limits/policies.ts'
import type {Call} from '../call/call.ts'
import type {Target} from '../targets/target.ts'

const METADATA = 'metadata.'

/** The facts of a call at a target for policies, read on demand. A class, for the reason that `CallFacts` is one. */
export class TargetFacts implements PolicyFacts {
  readonly #call: Pick<Call, 'caller' | 'metadata' | 'prompt'>
  readonly #target: Target
  readonly #model: string | null
  #models: readonly string[] | null | undefined

  /** The requested `model`, without a provider's slug. */
  constructor(call: Pick<Call, 'caller' | 'metadata' | 'prompt'>, target: Target, model: string | null) {
    this.#call = call
    this.#target = target
    this.#model = model
  }

  names(key: string): readonly string[] | null {
    const {caller, metadata, prompt} = this.#call
    const {managed, provider, config_id} = this.#target
    switch (key) {
      case 'api_key':
        return caller.kind === 'api_key' ? [caller.id] : null
      case 'workspace_id':
        return [caller.workspace_id, caller.workspace_slug]
      case 'organisation_id':
        return [caller.organisation_id]
      case 'virtual_key':
        return managed && [managed.slug, managed.id]
      case 'provider':
        return [provider.slug]
      case 'config':
        return config_id === null ? null : [config_id]
      case 'prompt':
        return prompt && [prompt.slug, prompt.id]
      case 'model':
        this.#models ??= this.#modelNames()
        return this.#models
      default:
        return listed(own(metadata, key))
    }
  }

  group(key: string): string | null {
    const {caller, metadata, prompt} = this.#call
    const {managed, provider, config_id} = this.#target
    switch (key) {
      case 'api_key':
        return caller.kind === 'api_key' ? caller.id : null
      case 'workspace_id':
        return caller.workspace_id
      case 'organisation_id':
        return caller.organisation_id
      case 'virtual_key':
        return managed?.id ?? null
      case 'provider':
        return provider.slug
      case 'config':
        return config_id
      case 'prompt':
        return prompt?.id ?? null
      case 'model':
        return this.#model === null ? null : `${provider.slug}.${this.#model}`
      default:
        return own(metadata, key) || null
    }
  }

  #modelNames(): readonly string[] | null {
    const model = this.#model
    if (model === null) return null
    const {managed, provider} = this.#target
    const places = managed ? [managed.slug, provider.slug] : [provider.slug]
    return [...places.flatMap(place => [`@${place}/${model}`, `@${place}/*`]), model]
  }
}

/** The call's own value of a key: objects inherit some that no call has, such as `constructor`. */
function own(metadata: Call['metadata'], key: string): string | undefined {
  const name = key.slice(METADATA.length)
  return key.startsWith(METADATA) && Object.hasOwn(metadata, name) ? metadata[name] : undefined
}

function listed(value: string | undefined): readonly string[] | null {
  return value ? [value] : null
}
