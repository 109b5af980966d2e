import {generateKeyPairSync} from 'node:crypto'
import {OPTIONS} from '../../src/providers/option-table.ts'
import {isOption} from '../../src/providers/options.ts'

type Settings = Readonly<Record<string, unknown>>

const AZURE = {
  azure_resource_name: 'mine',
  azure_deployment_config: [
    {azure_api_version: 'v1', azure_deployment_name: 'd', azure_model_slug: 'm', is_default: true},
  ],
}
const ENTRA = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 'tenant',
  azure_entra_client_id: 'client',
  azure_entra_client_secret: 'SECRET-entra-0123456789',
  azure_entra_scope: 'https://cognitiveservices.azure.com/.default',
}
const AWS_KEYS = {
  aws_access_key_id: 'SECRET-aws-id-0123456789',
  aws_secret_access_key: 'SECRET-aws-0123456789',
  aws_region: 'us-east-1',
}
const AWS = {aws_auth_type: 'accessKey', ...AWS_KEYS}
const ROLE = {aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/mine', aws_external_id: 'e', ...AWS_KEYS}

/** Made anew each time: no key of a test is a key of anything. */
export const PEM = generateKeyPairSync('rsa', {modulusLength: 2048})
  .privateKey.export({type: 'pkcs8', format: 'pem'})
  .toString()

/**
 * An integration of each way to log in: its kind, its settings with every secret in them, and whether its key is sent.
 */
export const PLACES: readonly {
  readonly name: string
  readonly kind: string
  readonly settings: Settings
  readonly keyed: boolean
}[] = [
  {name: 'openai', kind: 'openai', settings: {custom_host: 'https://mine.example/v1'}, keyed: true},
  {name: 'own', kind: 'groq', settings: {custom_headers: {'x-secret': 'SECRET-header-0123456789'}}, keyed: true},
  {name: 'anthropic', kind: 'anthropic', settings: {}, keyed: true},
  {name: 'azure', kind: 'azure-openai', settings: {azure_auth_mode: 'default', ...AZURE}, keyed: true},
  {name: 'azure-entra', kind: 'azure-openai', settings: {...ENTRA, ...AZURE}, keyed: false},
  {
    name: 'foundry',
    kind: 'azure-ai',
    settings: {azure_auth_mode: 'default', azure_foundry_url: 'https://mine.services.ai.azure.com'},
    keyed: true,
  },
  {
    name: 'foundry-entra',
    kind: 'azure-ai',
    settings: {...ENTRA, azure_foundry_url: 'https://mine.services.ai.azure.com'},
    keyed: false,
  },
  {name: 'bedrock', kind: 'bedrock', settings: AWS, keyed: false},
  {name: 'bedrock-role', kind: 'bedrock', settings: ROLE, keyed: false},
  {name: 'bedrock-key', kind: 'bedrock', settings: {aws_auth_type: 'apiKey', aws_region: 'us-east-1'}, keyed: true},
  {name: 'mantle', kind: 'bedrock-mantle', settings: AWS, keyed: false},
  {
    name: 'claude-aws',
    kind: 'claude-platform-aws',
    settings: {...AWS, anthropic_aws_workspace_id: 'mine'},
    keyed: false,
  },
  {name: 'sagemaker', kind: 'sagemaker', settings: AWS, keyed: false},
  {
    name: 'vertex',
    kind: 'vertex-ai',
    settings: {vertex_auth_type: 'basic', vertex_region: 'us-central1', vertex_project_id: 'mine'},
    keyed: true,
  },
  {name: 'workers', kind: 'workers-ai', settings: {workers_ai_account_id: 'mine'}, keyed: true},
  {name: 'hf', kind: 'huggingface', settings: {}, keyed: true},
  {name: 'hf-own', kind: 'huggingface', settings: {huggingface_base_url: 'https://mine.example'}, keyed: true},
  {name: 'cortex', kind: 'cortex', settings: {snowflake_account: 'mine', snowflake_token_type: 'OAUTH'}, keyed: true},
  {
    name: 'vertex-account',
    kind: 'vertex-ai',
    settings: {
      vertex_auth_type: 'serviceAccount',
      vertex_region: 'us-central1',
      vertex_service_account_json: {client_email: 'SECRET-account@mine.example', private_key: PEM, project_id: 'mine'},
    },
    keyed: false,
  },
  {
    name: 'cortex-pair',
    kind: 'cortex',
    settings: {snowflake_account: 'mine', snowflake_user: 'me', snowflake_private_key: PEM},
    keyed: false,
  },
  {
    name: 'oracle',
    kind: 'oracle',
    settings: {
      oracle_region: 'us-chicago-1',
      oracle_compartment_id: 'ocid1.compartment.oc1..mine',
      oracle_tenancy: 'ocid1.tenancy.oc1..mine',
      oracle_user: 'ocid1.user.oc1..mine',
      oracle_fingerprint: 'aa',
      oracle_private_key: PEM,
    },
    keyed: true,
  },
  {name: 'databricks', kind: 'databricks', settings: {databricks_workspace: 'mine'}, keyed: true},
  {name: 'byteplus', kind: 'byteplus', settings: {byteplus_region: 'ap-southeast'}, keyed: true},
]

/** Other values of an option than those of `PLACES`, in forms that it takes: a place or a login of somebody else's. */
export function otherValue(name: string): string {
  if (name === 'custom_host') return 'https://other.example/v1'
  if (!isOption(name)) throw new Error(`${name} is no option`)
  if (name === 'azure_auth_mode') return 'managed'
  if (name === 'azure_deployment_type') return 'managed'
  if (name === 'aws_auth_type') return 'serviceRole'
  if (name === 'vertex_auth_type') return 'workload'
  if (name === 'snowflake_token_type') return 'KEYPAIR_JWT'
  if (name === 'aws_role_arn') return 'arn:aws:iam::2:role/other'
  if (name === 'azure_entra_scope') return 'https://other.example/.default'
  if (name.endsWith('_service_account_json'))
    return '{"client_email":"other@example.com","private_key":"other","project_id":"other"}'
  const {takes} = OPTIONS[name]
  if (takes === 'url') return 'https://other.example'
  if (takes === 'domain') return 'other.example'
  if (takes === 'ocid') return 'ocid1.tenancy.oc1..other'
  return 'other'
}

/** Integrations that log in as the gateway itself. */
export const HOUSES: readonly {readonly name: string; readonly kind: string; readonly settings: Settings}[] = [
  {name: 'house-aws', kind: 'bedrock', settings: {aws_auth_type: 'serviceRole', aws_region: 'us-east-1'}},
  {
    name: 'house-role',
    kind: 'bedrock',
    settings: {aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::1:role/mine', aws_region: 'us-east-1'},
  },
  {name: 'house-azure', kind: 'azure-openai', settings: {azure_auth_mode: 'managed', ...AZURE}},
  {
    name: 'house-foundry',
    kind: 'azure-ai',
    settings: {azure_auth_mode: 'gateway', azure_foundry_url: 'https://mine.services.ai.azure.com'},
  },
  {
    name: 'house-vertex',
    kind: 'vertex-ai',
    settings: {vertex_auth_type: 'workload', vertex_region: 'us-central1', vertex_project_id: 'mine'},
  },
]
