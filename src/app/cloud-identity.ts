import {readFile} from 'node:fs/promises'
import type {AwsIdentity} from '../providers/auth/aws-login.ts'
import {type AzureIdentity, type CloudIdentity, type GoogleIdentity, USUAL_AWS_DOMAIN} from '../providers/auth/login.ts'
import type {Options} from '../providers/options.ts'
import type {Settings} from '../settings/index.ts'

/**
 * The address at which ECS serves the credentials of a task whose address is relative. Source: Amazon ECS developer
 * guide, task IAM role.
 */
const ECS = 'http://169.254.170.2'
const USUAL_AWS_REGION = 'us-east-1'

/** The gateway's own identity at the clouds: for integrations that choose it, and for no others. */
export function cloudIdentity(settings: Settings): CloudIdentity {
  return {aws: awsIdentity(settings), azure: azureIdentity(settings), google: googleIdentity(settings)}
}

/** The defaults of a place for options that its integration leaves open. */
export function placeDefaults({aws_endpoint_domain}: Settings): Options {
  return aws_endpoint_domain === USUAL_AWS_DOMAIN ? {} : {aws_endpoint_domain}
}

/** Addresses that the settings name, as origins: asked for credentials wherever they are. */
export function credentialOrigins(settings: Settings): ReadonlySet<string> {
  const {azure_authority_host, identity_endpoint, aws_container_credentials_full_uri} = settings
  const named = [azure_authority_host, identity_endpoint, aws_container_credentials_full_uri]
  return new Set(named.flatMap(url => (url ? [new URL(url).origin] : [])))
}

function awsIdentity(settings: Settings): AwsIdentity {
  const {aws_assume_role_access_key_id: access_key_id, aws_assume_role_secret_access_key: secret_access_key} = settings
  const {
    aws_assume_role_source_arn: source_arn,
    aws_assume_role_source_external_id,
    aws_assume_role_region,
    aws_imds_v1,
  } = settings
  const {aws_web_identity_token_file: token_file, aws_role_arn: role_arn} = settings
  const url = settings.aws_container_credentials_full_uri ?? ofEcs(settings.aws_container_credentials_relative_uri)
  const container_token = settings.aws_container_authorization_token_file
  return {
    keys: access_key_id && secret_access_key ? {access_key_id, secret_access_key} : null,
    web_identity: token_file && role_arn ? {role_arn, token: () => textOf(token_file)} : null,
    container: url ? {url, token: container_token ? () => textOf(container_token) : null} : null,
    source_role: source_arn ? {role_arn: source_arn, external_id: aws_assume_role_source_external_id ?? null} : null,
    sts_region: aws_assume_role_region ?? null,
    is_imds_v1: aws_imds_v1,
  }
}

function ofEcs(path: string | undefined): string | undefined {
  return path === undefined ? undefined : ECS + path
}

function azureIdentity(settings: Settings): AzureIdentity {
  const {
    azure_auth_mode,
    azure_managed_client_id,
    azure_tenant_id,
    azure_client_id,
    azure_federated_token_file: token_file,
  } = settings
  const {azure_entra_tenant_id, azure_entra_client_id, azure_entra_client_secret, identity_endpoint, identity_header} =
    settings
  return {
    ...(azure_auth_mode && {mode: azure_auth_mode}),
    ...(azure_managed_client_id && {managed_client_id: azure_managed_client_id}),
    ...(azure_tenant_id && {tenant_id: azure_tenant_id}),
    ...(azure_client_id && {client_id: azure_client_id}),
    ...(token_file && {federated_token: () => textOf(token_file)}),
    ...(azure_entra_tenant_id &&
      azure_entra_client_id &&
      azure_entra_client_secret && {
        entra: {tenant_id: azure_entra_tenant_id, client_id: azure_entra_client_id, secret: azure_entra_client_secret},
      }),
    ...(identity_endpoint && identity_header && {app_service: {url: identity_endpoint, header: identity_header}}),
  }
}

function googleIdentity(settings: Settings): GoogleIdentity {
  const {
    gcp_auth_mode,
    gcp_wif_audience: audience,
    gcp_wif_service_account_email,
    gcp_wif_token_file: token_file,
  } = settings
  if (gcp_auth_mode === 'workload' || audience === undefined) return {}
  return {
    federation: {
      audience,
      service_account: gcp_wif_service_account_email ?? null,
      token: token_file ? () => textOf(token_file) : null,
      aws_region: settings.aws_assume_role_region ?? USUAL_AWS_REGION,
    },
  }
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8')
}
