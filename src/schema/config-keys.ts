import {nearest} from '../base/nearest.ts'
import {SLUG} from './names.ts'

/** A key's value as it counts, or what was expected instead. */
export type Read = {readonly value: unknown} | {readonly expected: string}

/** The keys of a target that this version carries out, each with its reader (reference: config object, node schema). */
export const TARGET_KEYS = {
  name: text('a name of 1 to 255 characters', said => said.length <= 255),
  provider: text('a kind of provider, or @slug', said => said.length <= 256 && SLUG.test(said.replace(/^@/, ''))),
  virtual_key: (said: unknown): Read => {
    const slug = typeof said === 'string' ? said.replace(/^@/, '') : ''
    return slug.length <= 255 && SLUG.test(slug) ? {value: slug} : {expected: 'the slug of a virtual key'}
  },
  api_key: text('a key of visible ASCII characters', said => said.length <= 8192 && /^[\x21-\x7e]+$/.test(said)),
  custom_host: text('an http or https URL of at most 2048 characters', said => said.length <= 2048 && /^https?:\/\//i.test(said)),
  override_params: object,
  forward_headers: headerNames,
  request_timeout: whole(1, 2 ** 31 - 1, 'milliseconds'),
  strict_open_ai_compliance: flag,
  openai_organization: text('one line of at most 255 visible characters', said => said.length <= 255 && /^[\x21-\x7e]+$/.test(said)),
  openai_project: text('one line of at most 255 visible characters', said => said.length <= 255 && /^[\x21-\x7e]+$/.test(said)),
} as const satisfies Record<string, (said: unknown) => Read>

/** Keys that say which of several targets is asked: without effect while there is one. */
export const IDLE_KEYS: Readonly<Record<string, string>> = {weight: 'it counts under the mode loadbalance alone'}
export const IDLE_STRATEGY_KEYS: Readonly<Record<string, string>> = {
  on_status_codes: 'it counts under the mode fallback alone',
  conditions: 'it counts under the mode conditional alone',
  default: 'it counts under the mode conditional alone',
  sticky: 'it counts under the mode loadbalance alone',
}

export const MODES = ['single', 'loadbalance', 'fallback', 'conditional'] as const
export const STRATEGY_KEYS = ['mode', ...Object.keys(IDLE_STRATEGY_KEYS), 'cb_config'] as const

/** Other spellings, as they are after the change to snake_case. */
export const ALIASES: Readonly<Record<string, string>> = {strict_openai_compliance: 'strict_open_ai_compliance'}

/** Documented keys of a target that this version does not carry out. */
export const LATER_KEYS: ReadonlySet<string> = new Set(
  `retry cache cb_config prompt_id passthrough default_params drop_params fetch_integrated_models deployments
  before_request_hooks after_request_hooks input_guardrails output_guardrails default_input_guardrails default_output_guardrails
  input_mutators output_mutators anthropic_beta anthropic_version anthropic_aws_workspace_id openai_beta azure_resource_name azure_deployment_id
  azure_deployment_name azure_deployment_type azure_api_version azure_auth_mode azure_ad_token azure_model_name azure_region
  azure_endpoint_name azure_foundry_url azure_extra_params azure_managed_client_id azure_workload_client_id azure_entra_client_id
  azure_entra_client_secret azure_entra_tenant_id azure_entra_scope aws_access_key_id aws_secret_access_key aws_session_token aws_region
  aws_role_arn aws_external_id aws_auth_type aws_s3_bucket aws_s3_object_key aws_bedrock_model amz_server_side_encryption
  amz_server_side_encryption_aws_kms_key_id amzn_sagemaker_custom_attributes amzn_sagemaker_target_model
  amzn_sagemaker_target_variant amzn_sagemaker_target_container_hostname amzn_sagemaker_inference_id
  amzn_sagemaker_enable_explanations amzn_sagemaker_inference_component amzn_sagemaker_session_id amzn_sagemaker_model_name
  vertex_project_id vertex_region vertex_service_account_json vertex_storage_bucket_name vertex_auth_type vertex_skip_ptu_cost_attribution
  oracle_api_version oracle_region oracle_compartment_id oracle_serving_mode oracle_tenancy oracle_user oracle_fingerprint
  oracle_private_key oracle_key_passphrase huggingface_base_url workers_ai_account_id fireworks_account_id snowflake_account
  stability_client_id stability_client_user_id stability_client_version databricks_workspace databricks_serving_endpoint_name
  byteplus_region mistral_fim_completion`.split(/\s+/),
)

/** Headers that no client may have forwarded: they open cloud metadata services (reference: forward headers). */
const NOT_FORWARDED: ReadonlySet<string> = new Set(['metadata-flavor', 'x-aws-ec2-metadata-token', 'x-google-metadata-request'])

/** `strictOpenAiCompliance` and `strictOpenAICompliance` are `strict_open_ai_compliance`. */
export function snake(key: string): string {
  const parts = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
  return parts === key && !/[A-Z]/.test(key) ? key : parts.toLowerCase()
}

/** What is said of a key that nothing is known of; `usual` are those named when none of `known` is like it. */
export function unknownKey(key: string, known: readonly string[], usual: readonly string[] = known): string {
  if (key === 'options') return 'is the older form of a config and not known; write targets'
  const close = nearest(key, known)
  return `is not known; ${close ? `did you mean ${close}?` : `expected one of ${usual.join(', ')}`}`
}

/** A value in few words, for a sentence: never its contents, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object'
    ? 'an object'
    : typeof value === 'string'
      ? 'a text'
      : typeof value === 'boolean'
        ? 'true or false'
        : `a ${typeof value}`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(expected: string, fits: (said: string) => boolean) {
  return (said: unknown): Read => (typeof said === 'string' && said !== '' && fits(said) ? {value: said} : {expected})
}

function whole(least: number, most: number, unit: string) {
  return (said: unknown): Read =>
    Number.isSafeInteger(said) && (said as number) >= least && (said as number) <= most
      ? {value: said}
      : {expected: `a whole number of ${unit} from ${least} to ${most}`}
}

function object(said: unknown): Read {
  return isObject(said) ? {value: said} : {expected: 'an object'}
}

function flag(said: unknown): Read {
  return typeof said === 'boolean' ? {value: said} : {expected: 'true or false'}
}

function headerNames(said: unknown): Read {
  const expected = 'a list of at most 100 header names, none of them of a cloud metadata service or forward-headers itself'
  if (!Array.isArray(said) || said.length > 100) return {expected}
  const names = said.map(name => (typeof name === 'string' ? name.toLowerCase() : ''))
  const fit = names.every(
    name => /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name) && !NOT_FORWARDED.has(name) && !/^x-(gateway|portkey)-forward-headers$/.test(name),
  )
  return fit ? {value: names} : {expected}
}
