import {isObject, parseJson} from '../base/json-object.ts'
import {
  type ConfigReader,
  expecting,
  flag,
  listOf,
  oneOf,
  opaque,
  refuse,
  requiring,
  shape,
  text,
} from './config-readers.ts'

const word = text(
  'one line of at most 2048 visible ASCII characters without spaces',
  value => value.length <= 2048 && /^[\x21-\x7e]+$/.test(value),
)
const host = text(
  'a part of a host name: letters, digits, - _ and dots',
  value => value.length <= 255 && /^\w[\w.-]*$/.test(value),
)
const line = text(
  'one line of at most 2048 visible ASCII characters',
  value => value.length <= 2048 && /^[\x20-\x7e]+$/.test(value),
)
const url = text(
  'an http or https URL of at most 2048 characters',
  value => value.length <= 2048 && /^https?:\/\/[\x21-\x7e]+$/i.test(value),
)
const token = text('a key of visible ASCII characters', value => value.length <= 8192 && /^[\x21-\x7e]+$/.test(value))
const pem = text('a private key in PEM', value => value.length <= 16_384 && /^[\x20-\x7e\r\n]+$/.test(value))
const names = expecting(
  'words by commas, or a list of words',
  value =>
    Array.isArray(value) ? value.length > 0 && value.length <= 50 && value.every(isHeaderText) : isHeaderText(value),
  (value: string | readonly string[]) => (typeof value === 'string' ? value : value.join(',')),
)

/**
 * The settings that a provider needs beside its key, and secrets, by key; each names the target it is for
 * (docs/configs.md, Keys).
 */
export const CREDENTIAL_KEYS = {
  api_key: token,
  ...of(word, 'openai_organization openai_project openai_beta'),
  anthropic_beta: names,
  ...of(word, 'anthropic_version anthropic_aws_workspace_id'),
  // These become a part of the host that is called.
  ...of(
    host,
    'azure_resource_name azure_region azure_endpoint_name aws_region vertex_region oracle_region byteplus_region',
  ),
  ...of(host, 'snowflake_account databricks_workspace'),
  ...of(word, 'azure_deployment_id azure_deployment_name azure_api_version azure_model_name azure_extra_params'),
  ...of(
    word,
    'azure_managed_client_id azure_workload_client_id azure_entra_client_id azure_entra_tenant_id azure_entra_scope',
  ),
  azure_foundry_url: url,
  azure_deployment_type: oneOf(['serverless', 'managed']),
  azure_auth_mode: oneOf(['default', 'apiKey', 'entra', 'managed', 'workload']),
  ...of(token, 'azure_ad_token azure_entra_client_secret'),
  ...of(token, 'aws_access_key_id aws_secret_access_key aws_session_token'),
  ...of(word, 'aws_role_arn aws_external_id aws_s3_bucket aws_bedrock_model'),
  ...of(line, 'aws_s3_object_key amz_server_side_encryption amz_server_side_encryption_aws_kms_key_id'),
  aws_auth_type: oneOf(['accessKey', 'assumedRole', 'serviceRole', 'apiKey']),
  ...of(line, 'amzn_sagemaker_custom_attributes amzn_sagemaker_target_model amzn_sagemaker_target_variant'),
  ...of(
    line,
    'amzn_sagemaker_target_container_hostname amzn_sagemaker_inference_id amzn_sagemaker_enable_explanations',
  ),
  ...of(line, 'amzn_sagemaker_inference_component amzn_sagemaker_session_id amzn_sagemaker_model_name'),
  ...of(word, 'vertex_project_id vertex_storage_bucket_name'),
  vertex_auth_type: oneOf(['basic', 'serviceAccount']),
  vertex_service_account_json: serviceAccount,
  ...of(word, 'oracle_api_version oracle_compartment_id oracle_tenancy oracle_user oracle_fingerprint'),
  oracle_serving_mode: oneOf(['ON_DEMAND', 'DEDICATED']),
  oracle_private_key: pem,
  oracle_key_passphrase: line,
  huggingface_base_url: url,
  ...of(word, 'workers_ai_account_id fireworks_account_id databricks_serving_endpoint_name'),
  ...of(line, 'stability_client_id stability_client_user_id stability_client_version'),
} as const satisfies Readonly<Record<string, ConfigReader>>

/** Switches and lists of the same kind. */
export const CREDENTIAL_EXTRAS = {
  vertex_skip_ptu_cost_attribution: flag,
  mistral_fim_completion: flag,
  deployments: listOf(
    'deployments',
    requiring(
      'deployment_id',
      shape({deployment_id: word, alias: word, api_version: word, is_default: flag}),
      'the name of a deployment',
    ),
    {least: 1},
  ),
} as const satisfies Readonly<Record<string, ConfigReader>>

/** Sealed where a config is kept, masked wherever it is shown. */
export const SECRET_KEYS = [
  'api_key',
  'azure_ad_token',
  'azure_entra_client_secret',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'vertex_service_account_json',
  'oracle_private_key',
  'oracle_key_passphrase',
] as const satisfies readonly (keyof typeof CREDENTIAL_KEYS)[]

/** The contents of a key file, as an object or as its text; it counts as its text. */
function serviceAccount(value: unknown, path: string, found: Parameters<ConfigReader>[2]): unknown {
  const expected = 'expected the JSON of a service account, as an object or a text'
  const json = isObject(value) ? opaque(value, path, found) && JSON.stringify(value) : value
  if (json === undefined) return undefined
  if (typeof json !== 'string' || json.length > 16_384 || !/^[\x20-\x7e\s]+$/.test(json))
    return refuse(found, path, expected)
  try {
    return isObject(parseJson(json)) ? json : refuse(found, path, expected)
  } catch {
    return refuse(found, path, expected)
  }
}

function isHeaderText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 1024 && /^[\x21-\x7e][\x20-\x7e]*$/.test(value)
}

function of<Names extends string>(reader: ConfigReader, keys: Names): Readonly<Record<Words<Names>, ConfigReader>> {
  return Object.fromEntries(keys.split(' ').map(key => [key, reader])) as Readonly<Record<Words<Names>, ConfigReader>>
}

type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S
