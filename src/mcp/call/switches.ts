import type {CapabilityType} from '../../store/tables/registry.ts'
import {matchesTemplate} from './uri-template.ts'

/** One capability of a server, with what the integration and the server say of it. */
export interface CapabilitySwitch {
  readonly type: CapabilityType
  readonly name: string
  /** The address of a resource, or the template of addresses. */
  readonly uri: string | null
  readonly is_on: boolean
}

/** The capabilities that callers of a server see and use. A name without a row is allowed: a sync lags behind. */
export class Switches {
  readonly #off: ReadonlySet<string>
  readonly #by_uri: ReadonlyMap<string, boolean>
  readonly #templates: readonly CapabilitySwitch[]
  /** False where a name that no sync has seen is refused. */
  readonly #allows_unknown: boolean
  readonly #known: ReadonlySet<string>

  constructor(all: readonly CapabilitySwitch[], allows_unknown: boolean) {
    this.#off = new Set(all.filter(({is_on}) => !is_on).map(({type, name}) => `${type} ${name}`))
    this.#known = new Set(all.map(({type, name}) => `${type} ${name}`))
    const resources = all.filter(({type, uri}) => type === 'resource' && uri !== null)
    this.#by_uri = new Map(resources.map(({uri, is_on}) => [uri!, is_on]))
    this.#templates = all.filter(({type, uri}) => type === 'resource_template' && uri !== null)
    this.#allows_unknown = allows_unknown
  }

  /** True where nothing is hidden: lists pass as they are. */
  get hides_nothing(): boolean {
    return this.#off.size === 0 && this.#allows_unknown
  }

  isOn(type: 'tool' | 'prompt', name: string): boolean {
    const key = `${type} ${name}`
    return this.#known.has(key) ? !this.#off.has(key) : this.#allows_unknown
  }

  /** By its own row, else by the rows of the templates that its address fits: one that is on is enough. */
  isResourceOn(uri: string): boolean {
    const own = this.#by_uri.get(uri)
    if (own !== undefined) return own
    const fitting = this.#templates.filter(template => matchesTemplate(template.uri!, uri))
    return fitting.length === 0 ? this.#allows_unknown : fitting.some(({is_on}) => is_on)
  }

  isTemplateOn(template: string): boolean {
    const own = this.#templates.find(({uri}) => uri === template)
    return own ? own.is_on : this.#allows_unknown
  }
}
