import {z} from 'zod'
import {OPTIONS, type OptionRow} from './option-table.ts'
import {GRAMMARS} from './options.ts'

const text = z.string().min(1).max(2048)
const version = z.string().min(1).max(30)
const Flag = z.union([z.boolean(), z.enum(['true', 'false'])])
/** A private key in PEM form. */
const pem = z.string().min(1).max(16_384)
const word = z
  .string()
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'expected visible ASCII characters without spaces')
/** A header's value; `•` marks a mask, which is put back or refused before it is kept. */
const line = z
  .string()
  .max(8192)
  .regex(/^[\x20-\x7e•]*$/, 'expected visible ASCII characters on one line')

/** Set by the connection itself; a header of this name would break it (RFC 9110, 7.6.1). */
const NOT_OURS = new Set(
  'connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
const HeaderName = z
  .string()
  .max(128)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected a header name')
  .refine(name => !NOT_OURS.has(name.toLowerCase()), 'is set by the connection itself')

/** Settings that an integration of any kind may have: another address, and headers for every call. */
const Anywhere = {
  custom_host: z.string().trim().min(1).max(2048).optional(),
  custom_headers: z
    .record(HeaderName, line)
    .refine(headers => Object.keys(headers).length <= 50, 'expected at most 50 headers')
    .optional(),
}
const AzureLogin = {
  azure_auth_mode: z.enum(['default', 'entra', 'managed', 'workload', 'gateway']).default('default'),
  azure_entra_tenant_id: text.optional(),
  azure_entra_client_id: text.optional(),
  azure_entra_client_secret: text.optional(),
  azure_managed_client_id: text.optional(),
  azure_workload_client_id: text.optional(),
  azure_entra_scope: text.optional(),
}
const AwsLogin = {
  aws_auth_type: z.enum(['accessKey', 'assumedRole', 'serviceRole', 'apiKey']),
  aws_region: text,
  aws_access_key_id: text.optional(),
  aws_secret_access_key: text.optional(),
  aws_session_token: text.optional(),
  aws_role_arn: text.optional(),
  aws_external_id: text.nullable().optional(),
}
/** The bucket that files go to and come from: no caller may choose another for these credentials. */
const BedrockFiles = {
  aws_s3_bucket: text.optional(),
  amz_server_side_encryption: text.optional(),
  amz_server_side_encryption_aws_kms_key_id: text.optional(),
}
const SageMaker = {
  amzn_sagemaker_custom_attributes: text.optional(),
  amzn_sagemaker_target_model: text.optional(),
  amzn_sagemaker_target_variant: text.optional(),
  amzn_sagemaker_target_container_hostname: text.optional(),
  amzn_sagemaker_inference_id: text.optional(),
  amzn_sagemaker_enable_explanations: text.optional(),
  amzn_sagemaker_inference_component: text.optional(),
  amzn_sagemaker_session_id: text.optional(),
  amzn_sagemaker_model_name: text.optional(),
}
const AzureDeployment = z.strictObject({
  alias: text.optional(),
  azure_api_version: version,
  azure_deployment_name: text,
  is_default: z.boolean().default(false),
  azure_model_slug: text,
})

/** Members that a way to log in needs together: the member that names the way → its value → the members it needs. */
type Needs = readonly [member: string, Readonly<Record<string, readonly string[]>>]
const AZURE: Needs = [
  'azure_auth_mode',
  {entra: ['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret']},
]
const AWS: Needs = [
  'aws_auth_type',
  {accessKey: ['aws_access_key_id', 'aws_secret_access_key'], assumedRole: ['aws_role_arn']},
]
const VERTEX: Needs = [
  'vertex_auth_type',
  {basic: ['vertex_project_id'], workload: ['vertex_project_id'], serviceAccount: ['vertex_service_account_json']},
]

/** The settings of kinds that need more than a key (docs/providers.md, One by one). */
const OWN: Readonly<Record<string, z.ZodType<Record<string, unknown>>>> = {
  'azure-openai': kind(
    'azure-openai',
    {
      ...AzureLogin,
      azure_resource_name: text,
      azure_deployment_config: z.array(AzureDeployment).min(1).max(100).optional(),
      azure_api_version: version.optional(),
      azure_deployment_id: text.optional(),
      azure_model_name: text.optional(),
    },
    AZURE,
  ).superRefine(namesDeployments),
  'azure-ai': kind(
    'azure-ai',
    {
      ...AzureLogin,
      azure_foundry_url: text,
      azure_api_version: version.optional(),
      azure_deployment_name: text.optional(),
    },
    AZURE,
  ),
  bedrock: kind('bedrock', {...AwsLogin, ...BedrockFiles}, AWS),
  sagemaker: kind('sagemaker', {...AwsLogin, ...SageMaker}, AWS),
  'vertex-ai': kind(
    'vertex-ai',
    {
      vertex_auth_type: z.enum(['basic', 'serviceAccount', 'workload']),
      vertex_region: text,
      vertex_project_id: text.optional(),
      vertex_service_account_json: z.record(z.string(), z.unknown()).optional(),
      vertex_storage_bucket_name: text.optional(),
      vertex_skip_ptu_cost_attribution: z.boolean().optional(),
      skipPtuCostAttribution: z.boolean().optional(),
    },
    VERTEX,
  ).transform(({skipPtuCostAttribution: skip, ...settings}) =>
    skip === undefined ? settings : {...settings, vertex_skip_ptu_cost_attribution: skip},
  ),
  'workers-ai': kind('workers-ai', {workers_ai_account_id: text}),
  huggingface: kind('huggingface', {huggingface_base_url: text.optional()}),
  'bedrock-mantle': kind('bedrock-mantle', AwsLogin, AWS),
  'claude-platform-aws': kind('claude-platform-aws', {...AwsLogin, anthropic_aws_workspace_id: text}, AWS),
  cortex: kind('cortex', {
    snowflake_account: text,
    snowflake_token_type: z.enum(['PROGRAMMATIC_ACCESS_TOKEN', 'KEYPAIR_JWT', 'OAUTH']).optional(),
    snowflake_user: text.optional(),
    snowflake_private_key: pem.optional(),
    snowflake_key_passphrase: text.optional(),
  }),
  oracle: kind('oracle', {
    oracle_region: text,
    oracle_compartment_id: text,
    oracle_serving_mode: z.enum(['ON_DEMAND', 'DEDICATED']).optional(),
    oracle_api_version: version.optional(),
    oracle_tenancy: text.optional(),
    oracle_user: text.optional(),
    oracle_fingerprint: text.optional(),
    oracle_private_key: pem.optional(),
    oracle_key_passphrase: text.optional(),
  }),
  databricks: kind('databricks', {databricks_workspace: text, databricks_serving_endpoint_name: text.optional()}),
  byteplus: kind('byteplus', {byteplus_region: text.optional()}),
  'fireworks-ai': kind('fireworks-ai', {fireworks_account_id: text.optional()}),
  'stability-ai': kind('stability-ai', {
    stability_client_id: text.optional(),
    stability_client_user_id: text.optional(),
    stability_client_version: text.optional(),
  }),
}
/** Kinds without settings of their own: OpenAI-compatible ones, and those whose options are for requests alone. */
const COMPATIBLE = {openai_organization: word.optional(), openai_project: word.optional()}
const compatible = new Map<string, z.ZodType<Record<string, unknown>>>()

/** Members that are sealed, and masked wherever they are shown. */
export const SECRET_SETTINGS: readonly string[] = [
  'azure_entra_client_secret',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'oracle_private_key',
  'oracle_key_passphrase',
  'snowflake_private_key',
  'snowflake_key_passphrase',
  'vertex_service_account_json',
  'custom_headers',
]

/** Members that are addresses calls go to. */
export const HOST_SETTINGS: readonly string[] = ['custom_host', 'azure_foundry_url', 'huggingface_base_url']

/**
 * The schema of an integration's `configurations` for a kind of provider; without one of its own, that of
 * OpenAI-compatible kinds.
 */
export function settingsOf(slug: string): z.ZodType<Record<string, unknown>> {
  if (Object.hasOwn(OWN, slug)) return OWN[slug]!
  const schema = compatible.get(slug) ?? kind(slug, COMPATIBLE)
  if (compatible.size < MAX_KINDS) compatible.set(slug, schema)
  return schema
}
const MAX_KINDS = 500

/** Options of a kind that are for the request alone: neither where it goes nor what signs it, and no secret. */
function requestOptions(slug: string, shape: z.ZodRawShape): z.ZodRawShape {
  const rows = Object.entries<OptionRow>(OPTIONS).filter(
    ([name, {providers, decides, secret, takes}]) =>
      providers.includes(slug) && !decides && !secret && takes !== 'json' && !(name in shape),
  )
  return Object.fromEntries(
    rows.map(([name, {takes}]) => [name, takes === 'flag' ? Flag.optional() : ofForm(takes).optional()]),
  )
}

function ofForm(takes: OptionRow['takes']) {
  const [form, expected] = GRAMMARS[takes]
  return z.string().regex(form, `expected ${expected}`)
}

/** The fields of a virtual key that say, in older names, what `configurations` says. */
export interface OlderSettings {
  readonly resourceName?: string | null | undefined
  readonly deploymentName?: string | null | undefined
  readonly apiVersion?: string | null | undefined
  readonly deploymentConfig?:
    | readonly {
        apiVersion: string
        alias?: string | undefined
        is_default?: boolean | undefined
        deploymentName: string
      }[]
    | undefined
  readonly skipPtuCostAttribution?: boolean | undefined
  readonly vertexSkipPtuCostAttribution?: boolean | undefined
}

/**
 * Older fields under their newer names; the kind's schema then checks whether they belong to it. No fields give an
 * empty object.
 */
export function newerSettings(settings: OlderSettings): Record<string, unknown> {
  const {resourceName, deploymentName, apiVersion, deploymentConfig} = settings
  const skip = settings.skipPtuCostAttribution ?? settings.vertexSkipPtuCostAttribution
  const one: OlderSettings['deploymentConfig'] =
    deploymentName && apiVersion ? [{deploymentName, apiVersion, is_default: true}] : []
  const deployments = (deploymentConfig ?? one).map(({deploymentName, apiVersion, alias, is_default = false}) => ({
    ...(alias ? {alias} : {}),
    azure_api_version: apiVersion,
    azure_deployment_name: deploymentName,
    azure_model_slug: alias ?? deploymentName,
    is_default,
  }))
  return {
    ...(resourceName ? {azure_resource_name: resourceName} : {}),
    ...(deployments.length ? {azure_auth_mode: 'default', azure_deployment_config: deployments} : {}),
    ...(skip === undefined ? {} : {vertex_skip_ptu_cost_attribution: skip}),
  }
}

/**
 * Deployments are listed, or the version of the API is given, with one deployment for all models or each named as its
 * model.
 */
function namesDeployments(
  {azure_deployment_config, azure_api_version}: Record<string, unknown>,
  issues: z.RefinementCtx,
) {
  if (azure_deployment_config !== undefined || azure_api_version !== undefined) return
  const message = 'is required (a list), or azure_api_version where deployments are named as their models'
  issues.addIssue({code: 'custom', path: ['azure_deployment_config'], message})
}

function kind(slug: string, shape: z.ZodRawShape, needs?: Needs): z.ZodType<Record<string, unknown>> {
  return z
    .strictObject({...shape, ...requestOptions(slug, shape), ...Anywhere})
    .superRefine((settings: Record<string, unknown>, issues) => {
      const [member, ways] = needs ?? []
      for (const needed of member ? (ways?.[String(settings[member])] ?? []) : []) {
        if (settings[needed] === undefined)
          issues.addIssue({
            code: 'custom',
            path: [needed],
            message: `is needed where ${member} is ${settings[member as string]}`,
          })
      }
    })
}
