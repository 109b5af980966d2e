/** One option of a provider: how it may be written, who reads it, what it is for. */
export interface OptionRow {
  /** A grammar of `options.ts`. */
  readonly takes: 'label' | 'account' | 'segment' | 'ocid' | 'domain' | 'url' | 'line' | 'secret' | 'flag' | 'json'
  readonly providers: readonly string[]
  readonly does: string
  /** Never shown, never logged. */
  readonly secret?: true
  /** `host`: where a call goes. `login`: what it is signed with. None: something for the request alone. */
  readonly decides?: 'host' | 'login'
  /**
   * An option that the integration sets cannot be changed for its credentials; an option that it leaves out, a caller
   * may set.
   */
  readonly stays?: true
  /** False for what no header of a request may say. */
  readonly in_header?: false
}

const AZURE = ['azure-openai', 'azure-ai']
const AWS = ['bedrock', 'bedrock-mantle', 'claude-platform-aws', 'sagemaker']
const VERTEX = ['vertex-ai']
const ORACLE = ['oracle']
const SAGEMAKER = ['sagemaker']
const CORTEX = ['cortex']

/**
 * Every option of every provider's place and login. The header of `aws_region` is `x-gateway-aws-region`; a config and
 * an integration use the name given here (docs/providers.md).
 */
// biome-ignore format: a table is read by its lines
export const OPTIONS = table({
  azure_resource_name: {takes: 'label', providers: ['azure-openai'], decides: 'host', does: 'Name of the Azure OpenAI resource: the first part of its host.'},
  azure_deployment_id: {takes: 'segment', providers: AZURE, does: 'Deployment to call; default: the deployment with the model’s name.'},
  azure_deployment_name: {takes: 'segment', providers: ['azure-ai'], does: 'Deployment to call behind a managed endpoint.'},
  azure_deployments: {takes: 'json', providers: ['azure-openai'], in_header: false, does: 'Deployments by model: `azure_deployment_config` of an integration, `deployments` of a config.'},
  azure_api_version: {takes: 'segment', providers: AZURE, does: '`v1`, or a dated version such as 2024-10-21.'},
  azure_model_name: {takes: 'segment', providers: ['azure-openai'], does: 'Model to name in the body.'},
  azure_foundry_url: {takes: 'url', providers: ['azure-ai'], decides: 'host', does: 'Base URL of the Foundry resource or of the deployed model.'},
  azure_endpoint_name: {takes: 'label', providers: ['azure-ai'], decides: 'host', does: 'Name of a serverless or managed endpoint, if no URL is given.'},
  azure_region: {takes: 'label', providers: ['azure-ai'], decides: 'host', does: 'Region of the serverless or managed endpoint.'},
  azure_deployment_type: {takes: 'segment', providers: ['azure-ai'], decides: 'host', does: '`serverless` (default) or `managed`.'},
  azure_extra_params: {takes: 'segment', providers: ['azure-ai'], does: 'Handling of fields that the model does not know: `drop` (default), `error` or `pass-through`.'},
  azure_auth_mode: {takes: 'segment', providers: AZURE, decides: 'login', does: '`default` (API key), `entra`, `managed`, `workload` or `gateway` (by AZURE_AUTH_MODE).'},
  azure_ad_token: {takes: 'secret', providers: AZURE, secret: true, decides: 'login', does: 'Your own Entra token, sent unchanged.'},
  azure_entra_tenant_id: {takes: 'segment', providers: AZURE, decides: 'login', does: 'Tenant that issues the token (`entra`, `workload`).'},
  azure_entra_client_id: {takes: 'segment', providers: AZURE, decides: 'login', does: 'Client id of the application (`entra`).'},
  azure_entra_client_secret: {takes: 'secret', providers: AZURE, secret: true, decides: 'login', does: 'Secret of that application (`entra`).'},
  azure_entra_scope: {takes: 'line', providers: AZURE, decides: 'login', does: 'Scope of the token, if not the default.'},
  azure_managed_client_id: {takes: 'segment', providers: AZURE, decides: 'login', does: 'Managed identity of the machine to use (`managed`).'},
  azure_workload_client_id: {takes: 'segment', providers: AZURE, decides: 'login', does: 'Client id of the federated identity (`workload`).'},

  vertex_project_id: {takes: 'segment', providers: VERTEX, does: 'Google Cloud project; default: the project of the service account.'},
  vertex_region: {takes: 'label', providers: VERTEX, decides: 'host', does: 'Region such as us-central1, or `global`.'},
  vertex_auth_type: {takes: 'segment', providers: VERTEX, decides: 'login', does: '`basic` (a token as the key), `serviceAccount` or `workload` (the gateway’s own account).'},
  vertex_service_account_json: {takes: 'json', providers: VERTEX, secret: true, decides: 'login', does: 'The key file of a service account.'},
  vertex_api_version: {takes: 'segment', providers: VERTEX, does: 'Version of the API, if not the default.'},
  vertex_publisher: {takes: 'segment', providers: VERTEX, in_header: false, does: 'Publisher of the model, if not Google.'},
  vertex_storage_bucket_name: {takes: 'segment', providers: VERTEX, stays: true, does: 'Bucket for files and batches.'},
  vertex_skip_ptu_cost_attribution: {takes: 'flag', providers: VERTEX, in_header: false, does: 'True if throughput is provisioned.'},

  aws_region: {takes: 'label', providers: AWS, decides: 'host', does: 'Region; default us-east-1.'},
  aws_auth_type: {takes: 'segment', providers: AWS, decides: 'login', does: '`accessKey`, `assumedRole`, `serviceRole` (the gateway’s own identity) or `apiKey`.'},
  aws_access_key_id: {takes: 'secret', providers: AWS, secret: true, decides: 'login', does: 'Access key.'},
  aws_secret_access_key: {takes: 'secret', providers: AWS, secret: true, decides: 'login', does: 'Secret of the access key.'},
  aws_session_token: {takes: 'secret', providers: AWS, secret: true, decides: 'login', does: 'Session token of temporary credentials.'},
  aws_role_arn: {takes: 'line', providers: AWS, decides: 'login', does: 'Role to assume (`assumedRole`).'},
  aws_external_id: {takes: 'line', providers: AWS, decides: 'login', does: 'External id that the role requires.'},
  aws_endpoint_domain: {takes: 'domain', providers: AWS, decides: 'host', in_header: false, does: 'Domain of the endpoints; default amazonaws.com.'},
  aws_bedrock_model: {takes: 'segment', providers: ['bedrock'], does: 'Model that a batch is for.'},
  aws_s3_bucket: {takes: 'segment', providers: ['bedrock'], stays: true, does: 'Bucket for files and batches.'},
  aws_s3_object_key: {takes: 'line', providers: ['bedrock'], does: 'Key of the object in it.'},
  amz_server_side_encryption: {takes: 'line', providers: ['bedrock'], stays: true, does: 'Encryption of uploaded objects.'},
  amz_server_side_encryption_aws_kms_key_id: {takes: 'line', providers: ['bedrock'], stays: true, does: 'KMS key of that encryption.'},
  amzn_sagemaker_custom_attributes: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Custom-Attributes.'},
  amzn_sagemaker_target_model: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Target-Model.'},
  amzn_sagemaker_target_variant: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Target-Variant.'},
  amzn_sagemaker_target_container_hostname: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Target-Container-Hostname.'},
  amzn_sagemaker_inference_id: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Inference-Id.'},
  amzn_sagemaker_enable_explanations: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Enable-Explanations.'},
  amzn_sagemaker_inference_component: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Inference-Component.'},
  amzn_sagemaker_session_id: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Session-Id.'},
  amzn_sagemaker_model_name: {takes: 'line', providers: SAGEMAKER, does: 'Sent as X-Amzn-SageMaker-Model-Name.'},
  anthropic_aws_workspace_id: {takes: 'line', providers: ['claude-platform-aws'], decides: 'login', does: 'Workspace that the call belongs to.'},

  oracle_region: {takes: 'label', providers: ORACLE, decides: 'host', does: 'Region such as us-chicago-1.'},
  oracle_compartment_id: {takes: 'ocid', providers: ORACLE, does: 'Compartment that pays for the call.'},
  oracle_serving_mode: {takes: 'segment', providers: ORACLE, does: '`ON_DEMAND` (default), or `DEDICATED`: the model is the id of an endpoint.'},
  oracle_api_version: {takes: 'segment', providers: ORACLE, does: 'Version of the API, if not the default.'},
  oracle_tenancy: {takes: 'ocid', providers: ORACLE, decides: 'login', does: 'Tenancy (OCID).'},
  oracle_user: {takes: 'ocid', providers: ORACLE, decides: 'login', does: 'User (OCID).'},
  oracle_fingerprint: {takes: 'segment', providers: ORACLE, decides: 'login', does: 'Fingerprint of the user’s API key.'},
  oracle_private_key: {takes: 'secret', providers: ORACLE, secret: true, decides: 'login', does: 'Private key in PEM form; in a header with `\\n` for line ends.'},
  oracle_key_passphrase: {takes: 'secret', providers: ORACLE, secret: true, decides: 'login', does: 'Passphrase of the private key.'},

  snowflake_account: {takes: 'account', providers: CORTEX, decides: 'host', does: 'Account: ORGANISATION-ACCOUNT.'},
  snowflake_token_type: {takes: 'segment', providers: CORTEX, decides: 'login', does: '`PROGRAMMATIC_ACCESS_TOKEN`, `KEYPAIR_JWT` or `OAUTH`, if the key does not show it.'},
  snowflake_user: {takes: 'segment', providers: CORTEX, decides: 'login', does: 'User that a private key belongs to.'},
  snowflake_private_key: {takes: 'secret', providers: CORTEX, secret: true, decides: 'login', does: 'Private key in PEM form, which signs tokens.'},
  snowflake_key_passphrase: {takes: 'secret', providers: CORTEX, secret: true, decides: 'login', does: 'Passphrase of the private key.'},

  workers_ai_account_id: {takes: 'segment', providers: ['workers-ai'], decides: 'host', does: 'Cloudflare account.'},
  fireworks_account_id: {takes: 'segment', providers: ['fireworks-ai'], does: 'Account for files and fine-tuning.'},
  byteplus_region: {takes: 'label', providers: ['byteplus'], decides: 'host', does: 'Region; default ap-southeast.'},
  databricks_workspace: {takes: 'label', providers: ['databricks'], decides: 'host', does: 'Workspace: the first part of its host.'},
  databricks_serving_endpoint_name: {takes: 'segment', providers: ['databricks'], does: 'Serving endpoint, if it is not the model’s name.'},
  huggingface_base_url: {takes: 'url', providers: ['huggingface'], decides: 'host', does: 'A dedicated endpoint.'},
  mistral_fim_completion: {takes: 'flag', providers: ['mistral-ai'], does: 'True sends chat to fill-in-the-middle.'},
  stability_client_id: {takes: 'line', providers: ['stability-ai'], does: 'Sent as Stability-Client-ID.'},
  stability_client_user_id: {takes: 'line', providers: ['stability-ai'], does: 'Sent as Stability-Client-User-ID.'},
  stability_client_version: {takes: 'line', providers: ['stability-ai'], does: 'Sent as Stability-Client-Version.'},
  openai_organization: {takes: 'line', providers: ['openai'], does: 'Sent as OpenAI-Organization.'},
  openai_project: {takes: 'line', providers: ['openai'], does: 'Sent as OpenAI-Project.'},
  anthropic_beta: {takes: 'line', providers: ['anthropic', 'bedrock', 'vertex-ai', 'azure-ai', 'bedrock-mantle', 'claude-platform-aws'], does: 'Names of beta features.'},
  anthropic_version: {takes: 'line', providers: ['anthropic', 'bedrock', 'azure-ai', 'bedrock-mantle', 'claude-platform-aws'], does: 'Version of the Messages API.'},
})

export type OptionName = keyof typeof OPTIONS

function table<Name extends string>(rows: Readonly<Record<Name, OptionRow>>): Readonly<Record<Name, OptionRow>> {
  return rows
}
