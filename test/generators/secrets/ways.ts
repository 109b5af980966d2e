import type {OptionName} from '../../../src/providers/option-table.ts'
import {headerOf} from '../../../src/providers/options.ts'

/** One thing that a caller says of a place: an option, or the host. */
export interface Said {
  readonly slug: string
  readonly name: OptionName | 'custom_host'
  readonly value: string
}

/** A call that says it: its headers and config, the model of its body, and whether the config is saved first. */
export interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly config?: object
  readonly saved?: true
  readonly model?: string
}

export interface RequestCase {
  /**
   * `unused`: the header is told and not used. `refused`: 400 naming it. `own`: refused, or sent with nothing of the
   * integration's.
   */
  readonly comes_to: 'unused' | 'refused' | 'own'
  asked(said: Said): Asked | null
}

const inHeader = (prefix: string, {name, value}: Said) => ({
  [`${prefix}-${name === 'custom_host' ? 'custom-host' : headerOf(name)}`]: value,
})
const at = (slug: string) => ({'x-gateway-provider': slug})
const CLOUDS = {azure_: 'cloud-a-', vertex_: 'cloud-b-', aws_: 'cloud-c-'} as const
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const node = ({slug, name, value}: Said) => ({provider: slug, [name]: value})
const OTHERS = {provider: 'openai', api_key: 'mine'}
// biome-ignore lint/suspicious/noThenProperty: conditions of a config are written so
const always = {query: {'params.model': {$ne: 'never'}}, then: 'it'}
const OWN = {api_key: 'mine'}

/** Every way in which a caller may say it. */
export const WAYS: Readonly<Record<string, RequestCase>> = {
  'x-gateway header': {
    comes_to: 'unused',
    asked: said => ({headers: {...at(said.slug), ...inHeader('x-gateway', said)}}),
  },
  'x-portkey header': {
    comes_to: 'unused',
    asked: said => ({headers: {...at(said.slug), ...inHeader('x-portkey', said)}}),
  },
  'header under the name of a cloud': {
    comes_to: 'unused',
    asked(said) {
      const cloud = Object.entries(CLOUDS).find(([start]) => said.name.startsWith(start))
      if (!cloud || said.name === 'custom_host') return null
      return {
        headers: {...at(said.slug), [`x-gateway-${cloud[1]}${headerOf(said.name).slice(cloud[0].length)}`]: said.value},
      }
    },
  },
  'header beside a model with a slug': {
    comes_to: 'unused',
    asked: said => ({headers: inHeader('x-gateway', said), model: `${said.slug}/m`}),
  },
  'header beside a virtual key': {
    comes_to: 'unused',
    asked: said => ({headers: {'x-gateway-virtual-key': said.slug.slice(1), ...inHeader('x-gateway', said)}}),
  },
  'header beside a config': {
    comes_to: 'unused',
    asked: said => ({headers: inHeader('x-gateway', said), config: {provider: said.slug}}),
  },
  'header beside a saved config': {
    comes_to: 'unused',
    asked: said => ({headers: inHeader('x-gateway', said), config: {provider: said.slug}, saved: true}),
  },
  'inline config': {comes_to: 'refused', asked: said => ({config: node(said)})},
  'inline config in camelCase': {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({config: {provider: slug, [camel(name)]: value}}),
  },
  'saved config': {comes_to: 'refused', asked: said => ({config: node(said), saved: true})},
  'virtual key of a config': {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({config: {virtual_key: slug.slice(1), [name]: value}}),
  },
  'config beside a provider in a header': {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({headers: at(slug), config: {passthrough: true, [name]: value}}),
  },
  'config beside a model with a slug': {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({config: {[name]: value, override_params: {model: `${slug}/m`}}}),
  },
  override_params: {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({config: {provider: slug, override_params: {[name]: value}}}),
  },
  'child of a fallback': {
    comes_to: 'refused',
    asked: said => ({config: {strategy: {mode: 'fallback'}, targets: [OTHERS, node(said)]}}),
  },
  'child of a child': {
    comes_to: 'refused',
    asked: said => ({
      config: {
        strategy: {mode: 'fallback'},
        targets: [OTHERS, {strategy: {mode: 'loadbalance'}, targets: [node(said)]}],
      },
    }),
  },
  'child that inherits': {
    comes_to: 'refused',
    asked: ({slug, name, value}) =>
      name === 'custom_host'
        ? {config: {[name]: value, strategy: {mode: 'fallback'}, targets: [OTHERS, {provider: slug}]}}
        : null,
  },
  'child that inherits override_params': {
    comes_to: 'refused',
    asked: ({slug, name, value}) => ({
      config: {override_params: {[name]: value}, strategy: {mode: 'fallback'}, targets: [{provider: slug}]},
    }),
  },
  'child under a condition': {
    comes_to: 'refused',
    asked: said => ({
      config: {
        strategy: {mode: 'conditional', conditions: [always], default: 'it'},
        targets: [{name: 'it', ...node(said)}],
      },
    }),
  },
  'config beside api_key': {comes_to: 'own', asked: said => ({config: {...node(said), ...OWN}})},
  'header beside api_key': {
    comes_to: 'own',
    asked: said => ({headers: inHeader('x-gateway', said), config: {provider: said.slug, ...OWN}}),
  },
  'override_params beside api_key': {
    comes_to: 'own',
    asked: ({slug, name, value}) => ({config: {provider: slug, ...OWN, override_params: {[name]: value}}}),
  },
  'api_key and another host': {
    comes_to: 'own',
    asked: said => ({config: {custom_host: 'https://other.example/v1', ...node(said), ...OWN}}),
  },
}
