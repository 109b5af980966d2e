import type {EndpointName} from '../../schema/endpoints.ts'
import {supports} from '../clients.ts'
import {OPTIONS, type OptionName} from '../option-table.ts'
import {headerOf, isOption, type Options, optionsFor} from '../options.ts'
import type {Provider} from '../provider.ts'

/** One provider as the catalogue shows it. */
export interface ProviderListing {
  readonly slug: string
  readonly name: string
  /** The base URL, with options in braces; null where the caller names a host. */
  readonly host: string | null
  /** Places beside it that its files are in. */
  readonly beside: readonly string[]
  /** Headers that carry the key, and the logins that options choose instead. */
  readonly auth: readonly string[]
  readonly needs_key: boolean
  /** Endpoints whose bodies go as they are; `all` is every unified one. */
  readonly native: readonly EndpointName[] | 'all'
  /** Endpoints that are put into the provider's own words and back. */
  readonly translated: readonly EndpointName[]
  /** Endpoints that take calls of the provider's own kind, one or several: files, batches, fine-tuning. */
  readonly in_calls: readonly EndpointName[]
  /**
   * Endpoints of other clients that newer versions of an engine serve: where the one at a host does not, by way of
   * chat.
   */
  readonly where_served: readonly EndpointName[]
  /** Endpoints of other clients that are served by way of chat. */
  readonly through_chat: readonly EndpointName[]
  /** By WebSocket. */
  readonly realtime: boolean
  readonly options: readonly CatalogueOption[]
}

export interface CatalogueOption {
  readonly name: OptionName
  /** After the prefix; null for what no header of a request may say. */
  readonly header: string | null
  readonly is_secret: boolean
  readonly does: string
}

const BY_CHAT = ['messages', 'createModelResponse'] as const satisfies readonly EndpointName[]

export function catalogueRow(provider: Provider): ProviderListing {
  const {
    slug,
    name,
    auth,
    login,
    endpoints,
    translations,
    models,
    operations,
    base_url_template: place_says,
    base_url,
  } = provider
  const {may_serve = []} = provider
  const in_calls = [...Object.keys(operations?.endpoints ?? {}), ...(models ? ['listModels'] : [])] as EndpointName[]
  const translated = (Object.keys(translations?.endpoints ?? {}) as EndpointName[]).filter(
    each => !in_calls.includes(each),
  )
  const has = (endpoint: EndpointName) => translated.includes(endpoint) || supports(provider, endpoint)
  return {
    slug,
    name,
    host: place_says ?? base_url,
    beside: Object.values(operations?.sides ?? {}).map(({says}) => says),
    auth: [auth.says, ...(login ? [login.says] : [])],
    needs_key: auth.required,
    native:
      endpoints === 'all' ? 'all' : endpoints.filter(each => !translated.includes(each) && !in_calls.includes(each)),
    translated,
    in_calls,
    where_served: may_serve,
    through_chat: has('chatComplete') ? BY_CHAT.filter(each => !has(each) && !may_serve.includes(each)) : [],
    realtime: provider.realtime !== undefined,
    options: optionsFor(slug).map(option => {
      const {secret = false, in_header = true, does} = OPTIONS[option]
      return {name: option, header: in_header ? headerOf(option) : null, is_secret: secret, does}
    }),
  }
}

/** An example of the options that a provider cannot do without; nothing in it is real. */
export const EXAMPLES: Readonly<Record<string, Options | Readonly<Record<string, unknown>>>> = {
  'azure-openai': {
    azure_auth_mode: 'default',
    azure_resource_name: 'my-resource',
    azure_deployment_config: [
      {
        azure_deployment_name: 'my-gpt-4o',
        azure_api_version: '2024-10-21',
        azure_model_slug: 'gpt-4o',
        is_default: true,
      },
    ],
  },
  'azure-ai': {
    azure_auth_mode: 'default',
    azure_foundry_url: 'https://my-resource.services.ai.azure.com/models',
    azure_api_version: '2024-05-01-preview',
  },
  bedrock: {
    aws_auth_type: 'assumedRole',
    aws_region: 'us-east-1',
    aws_role_arn: 'arn:aws:iam::111122223333:role/bedrock',
  },
  'bedrock-mantle': {
    aws_auth_type: 'assumedRole',
    aws_region: 'us-east-1',
    aws_role_arn: 'arn:aws:iam::111122223333:role/bedrock',
  },
  'claude-platform-aws': {
    aws_auth_type: 'serviceRole',
    aws_region: 'us-west-2',
    anthropic_aws_workspace_id: 'wrkspc_0123',
  },
  sagemaker: {
    aws_auth_type: 'accessKey',
    aws_region: 'us-east-1',
    aws_access_key_id: 'ACCESS-KEY-ID',
    aws_secret_access_key: 'SECRET-ACCESS-KEY',
  },
  'vertex-ai': {vertex_auth_type: 'basic', vertex_project_id: 'my-project', vertex_region: 'us-central1'},
  cortex: {snowflake_account: 'my-organisation-my-account'},
  oracle: {
    oracle_region: 'us-chicago-1',
    oracle_compartment_id: 'ocid1.compartment.oc1..example',
    oracle_tenancy: 'ocid1.tenancy.oc1..example',
    oracle_user: 'ocid1.user.oc1..example',
    oracle_fingerprint: '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34',
  },
  'workers-ai': {workers_ai_account_id: '0123456789abcdef0123456789abcdef'},
  databricks: {databricks_workspace: 'dbc-01234567-89ab'},
  byteplus: {byteplus_region: 'ap-southeast'},
  huggingface: {huggingface_base_url: 'https://example.us-east-1.aws.endpoints.huggingface.cloud'},
}

/** Ports that engines have by default, if not 8000. */
const PORTS: Readonly<Record<string, number>> = {'llama-cpp': 8080, 'lm-studio': 1234, ollama: 11434, sglang: 30000}

/** The members that an example needs at least: `custom_host` for a provider without an address. */
export function exampleFor(provider: Provider): Readonly<Record<string, unknown>> | null {
  const own = Object.hasOwn(EXAMPLES, provider.slug) ? EXAMPLES[provider.slug]! : null
  if (own) return own
  if (provider.base_url !== null || provider.baseUrlOf) return null
  const host = `http://10.0.0.5:${PORTS[provider.slug] ?? 8000}`
  return {custom_host: provider.dialect === 'native' ? host : `${host}/v1`}
}

/** Names in an example that are no option of the table; for the test that keeps them in step. */
export function unknownIn(example: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(example).filter(
    name => !isOption(name) && name !== 'custom_host' && name !== 'azure_deployment_config',
  )
}
