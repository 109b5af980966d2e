import {CREDENTIAL_EXTRAS, CREDENTIAL_KEYS} from './config-credentials.ts'
import {paramPath} from './config-params.ts'
import {
  type ConfigReader,
  expecting,
  flag,
  listOf,
  numeric,
  oneOf,
  opaque,
  refuse,
  snake,
  text,
  whole,
} from './config-readers.ts'
import {breaker, cache, fallbackCodes, retry, sticky} from './config-rules.ts'
import {SLUG} from './names.ts'

export const MODES = ['single', 'loadbalance', 'fallback', 'conditional'] as const
export type StrategyMode = (typeof MODES)[number]

const name = text('a name of 1 to 255 characters', value => value.length <= 255)
const slug = text('a slug of letters, digits, - and _', value => value.length <= 255 && SLUG.test(value))
const guardrails = listOf('guardrails, each a slug or an object', (value, path, found) =>
  typeof value === 'string' ? slug(value, path, found) : opaque(value, path, found),
)
const hooks = listOf('hooks, each an object', opaque)

/** Keys that name the target and its credentials: each target has its own, and none is inherited by targets below. */
export const OWN_KEYS = {
  provider: text('a kind of provider, or @slug', value => value.length <= 256 && SLUG.test(value.replace(/^@/, ''))),
  virtual_key: expecting(
    'the slug of a virtual key',
    value => typeof value === 'string' && value.length <= 256 && SLUG.test(value.replace(/^@/, '')),
    (value: string) => value.replace(/^@/, ''),
  ),
  passthrough: flag,
  prompt_id: text('the id of a prompt', value => value.length <= 255 && /^[\x21-\x7e]+$/.test(value)),
  ...CREDENTIAL_KEYS,
  ...CREDENTIAL_EXTRAS,
} as const satisfies Readonly<Record<string, ConfigReader>>

/** Keys that go down to targets below, by the rules of inheritance. */
export const INHERITED_KEYS = {
  custom_host: text(
    'an http or https URL of at most 2048 characters',
    value => value.length <= 2048 && /^https?:\/\/[\x21-\x7e]+$/i.test(value),
  ),
  request_timeout: whole(1, 2 ** 31 - 1, 'milliseconds'),
  forward_headers: listOf('header names', headerName),
  strict_open_ai_compliance: flag,
  override_params: params,
  default_params: opaque,
  drop_params: listOf('paths', paramPath),
  retry,
  cache,
  before_request_hooks: hooks,
  after_request_hooks: hooks,
  input_guardrails: guardrails,
  output_guardrails: guardrails,
  input_mutators: guardrails,
  output_mutators: guardrails,
} as const satisfies Readonly<Record<string, ConfigReader>>

/** Keys of the root alone. */
export const ROOT_KEYS = {
  default_input_guardrails: guardrails,
  default_output_guardrails: guardrails,
  fetch_integrated_models: flag,
} as const satisfies Readonly<Record<string, ConfigReader>>

/** The keys of a node, each with its reader, but for `strategy` and `targets` (docs/configs.md, Keys). */
export const NODE_KEYS: Readonly<Record<string, ConfigReader>> = {
  name,
  ...OWN_KEYS,
  ...INHERITED_KEYS,
  ...ROOT_KEYS,
  weight: numeric('a number from 0 to 1000000', value => value >= 0 && value <= 1_000_000),
  cb_config: breaker,
}
export const KNOWN = ['strategy', 'targets', ...Object.keys(NODE_KEYS)]
/** Suggested for a key that is like none of the known ones. */
export const USUAL = [
  'strategy',
  'targets',
  'name',
  'provider',
  'api_key',
  'override_params',
  'retry',
  'cache',
  'request_timeout',
  'weight',
]

/** The keys of a strategy, but for `mode` and `conditions`, and the mode they count under. */
export const STRATEGY_KEYS: Readonly<
  Record<string, {readonly read: ConfigReader; readonly mode: StrategyMode | null}>
> = {
  on_status_codes: {read: fallbackCodes, mode: 'fallback'},
  default: {read: name, mode: 'conditional'},
  sticky: {read: sticky, mode: 'loadbalance'},
  cb_config: {read: breaker, mode: null},
}
export const mode = oneOf(MODES)
export const targetName = name

/**
 * Older and other spellings, in snake_case. Those that begin with `cloud_a_`, `cloud_b_` or `cloud_c_` are changed by
 * rule.
 */
const ALIASES: Readonly<Record<string, string>> = {
  strict_openai_compliance: 'strict_open_ai_compliance',
  resource_name: 'azure_resource_name',
  deployment_id: 'azure_deployment_id',
  api_version: 'azure_api_version',
  open_ai_organization: 'openai_organization',
  open_ai_project: 'openai_project',
  hugging_face_base_url: 'huggingface_base_url',
}
const CLOUDS = {cloud_a_: 'azure_', cloud_b_: 'vertex_', cloud_c_: 'aws_'} as const

/** The name of a key of a node, however it was spelt. */
export function nodeKey(written: string): string {
  const key = snake(written)
  if (Object.hasOwn(ALIASES, key)) return ALIASES[key]!
  const plain = key.replace(/^cloud_[abc]_/, prefix => CLOUDS[prefix as keyof typeof CLOUDS])
  return Object.hasOwn(OWN_KEYS, plain) ? plain : key
}

function params(value: unknown, path: string, found: Parameters<ConfigReader>[2]): unknown {
  const read = opaque(value, path, found) as Readonly<Record<string, unknown>> | undefined
  if (read && Object.hasOwn(read, 'model') && (typeof read.model !== 'string' || !read.model))
    return refuse(found, `${path}.model`, 'expected the name of a model, or @slug/model')
  return read
}

/** Headers that no client may have forwarded: they open cloud metadata services. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-google-metadata-request',
])

function headerName(value: unknown, path: string, found: Parameters<ConfigReader>[2]): unknown {
  const header = typeof value === 'string' ? value.toLowerCase() : ''
  const fits =
    /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(header) &&
    !NOT_FORWARDED.has(header) &&
    !/^x-(gateway|portkey)-forward-headers$/.test(header)
  return fits
    ? header
    : refuse(
        found,
        path,
        'expected the name of a header, none of a cloud metadata service and not forward-headers itself',
      )
}
