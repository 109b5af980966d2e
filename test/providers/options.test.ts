import {expect, test} from 'vitest'
import {OPTIONS, type OptionName} from '../../src/providers/option-table.ts'
import {
  checkOptions,
  GRAMMARS,
  headerOf,
  holdsCredential,
  mergedOptions,
  optionIn,
  optionNeeded,
  optionsFor,
  optionsOfConfig,
  optionsOfSettings,
  readOptions,
  WrongOptionFault,
} from '../../src/providers/options.ts'
import {find} from '../../src/providers/registry.ts'
import {readConfig} from '../../src/schema/configs.ts'

/** The credential and place headers of the reference (data plane, request headers), after the prefix. */
const REFERENCE =
  `mistral-fim-completion huggingface-base-url workers-ai-account-id fireworks-account-id snowflake-account stability-client-id
  stability-client-user-id stability-client-version openai-organization openai-project anthropic-beta anthropic-version
  azure-resource-name azure-deployment-id azure-api-version azure-model-name azure-ad-token azure-auth-mode azure-managed-client-id
  azure-workload-client-id azure-entra-client-id azure-entra-client-secret azure-entra-tenant-id azure-entra-scope
  azure-endpoint-name azure-foundry-url azure-extra-params vertex-project-id vertex-region vertex-service-account-json
  vertex-storage-bucket-name vertex-auth-type aws-access-key-id aws-secret-access-key aws-session-token aws-region aws-role-arn
  aws-external-id aws-auth-type aws-s3-bucket aws-s3-object-key aws-bedrock-model amz-server-side-encryption
  amz-server-side-encryption-aws-kms-key-id amzn-sagemaker-custom-attributes amzn-sagemaker-target-model amzn-sagemaker-target-variant
  amzn-sagemaker-target-container-hostname amzn-sagemaker-inference-id amzn-sagemaker-enable-explanations
  amzn-sagemaker-inference-component amzn-sagemaker-session-id amzn-sagemaker-model-name oracle-api-version oracle-region
  oracle-compartment-id oracle-serving-mode oracle-tenancy oracle-user oracle-fingerprint oracle-private-key oracle-key-passphrase
  databricks-workspace databricks-serving-endpoint-name byteplus-region anthropic-aws-workspace-id`.split(/\s+/)

test.each(REFERENCE)('the header %s is an option', header => {
  expect(readOptions({[header]: 'x'})).toEqual({[header.replaceAll('-', '_')]: 'x'})
})

test('the specification’s names of the clouds mean the vendors’, which count where both are said', () => {
  const spec = {
    'cloud-a-resource-name': 'res',
    'cloud-a-deployment-id': 'dep',
    'cloud-a-api-version': 'v1',
    'cloud-a-model-name': 'gpt-4o',
    'cloud-b-project-id': 'p',
    'cloud-b-region': 'us-central1',
    'cloud-c-session-token': 't',
    'cloud-c-secret-access-key': 's',
    'cloud-c-access-key-id': 'i',
    'cloud-c-region': 'us-east-1',
  }
  const expected = {
    azure_resource_name: 'res',
    azure_deployment_id: 'dep',
    azure_api_version: 'v1',
    azure_model_name: 'gpt-4o',
    vertex_project_id: 'p',
    vertex_region: 'us-central1',
    aws_session_token: 't',
    aws_secret_access_key: 's',
    aws_access_key_id: 'i',
    aws_region: 'us-east-1',
  }
  expect(readOptions(spec)).toEqual(expected)
  expect(readOptions({'cloud-c-region': 'a', 'aws-region': 'b'})).toEqual({aws_region: 'b'})
  expect(readOptions({'aws-region': 'b', 'cloud-c-region': 'a'})).toEqual({aws_region: 'b'})
})

test('what is no option is not read, nor what no header may say', () => {
  const others = {
    provider: 'openai',
    'azure-deployments': '[]',
    'aws-endpoint-domain': 'evil.com',
    'cloud-c-endpoint-domain': 'evil.com',
    constructor: 'x',
    'aws-region': '',
  }
  expect(readOptions(others)).toEqual({})
  expect(readOptions(JSON.parse('{"__proto__": {"aws-region": "x"}, "aws-region": "us-east-1"}'))).toEqual({
    aws_region: 'us-east-1',
  })
})

test('every credential of a config is an option under its own name', () => {
  const target = {
    provider: 'azure-openai',
    api_key: 'k',
    azure_resource_name: 'res',
    azure_entra_scope: 'https://ai.azure.com/.default',
    oracle_key_passphrase: 'p',
    mistral_fim_completion: true,
    vertex_service_account_json: {client_email: 'a@b', private_key: 'k'},
    deployments: [{deployment_id: 'dep', alias: 'fast', is_default: true}],
  }
  const read = readConfig(target)
  if ('issues' in read) throw new Error(JSON.stringify(read.issues))
  expect(optionsOfConfig(read.config)).toEqual({
    azure_resource_name: 'res',
    azure_entra_scope: 'https://ai.azure.com/.default',
    oracle_key_passphrase: 'p',
    mistral_fim_completion: 'true',
    vertex_service_account_json: '{"client_email":"a@b","private_key":"k"}',
    azure_deployments: '[{"deployment_id":"dep","alias":"fast","is_default":true}]',
  })
})

test('the settings of an integration are options, its deployments under the names of their models', () => {
  const settings = {
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    custom_headers: {'x-a': 'b'},
    azure_deployment_config: [
      {azure_deployment_name: 'dep', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', is_default: false},
    ],
  }
  const options = optionsOfSettings(settings)
  expect({...options, azure_deployments: JSON.parse(options.azure_deployments!)}).toEqual({
    azure_auth_mode: 'default',
    azure_resource_name: 'res',
    azure_deployments: [
      {deployment_id: 'dep', alias: 'gpt-4o', model: 'gpt-4o', api_version: '2024-10-21', is_default: false},
    ],
  })
  expect(optionsOfSettings({vertex_service_account_json: {client_email: 'a'}, custom_host: 'https://x'})).toEqual({
    vertex_service_account_json: '{"client_email":"a"}',
  })
})

test('a caller chooses neither place nor login for a credential that is not the caller’s', () => {
  const own = {azure_resource_name: 'ours'}
  const callers = {
    azure_resource_name: 'theirs',
    azure_auth_mode: 'managed',
    azure_api_version: 'v1',
    azure_foundry_url: 'https://evil.com',
    unknown: 'x',
  }
  expect(mergedOptions(own, callers, {holds_credential: true})).toEqual({
    azure_resource_name: 'ours',
    azure_api_version: 'v1',
  })
  expect(mergedOptions({}, callers, {holds_credential: false})).toEqual(callers)
  for (const name of Object.keys(OPTIONS) as OptionName[])
    if (OPTIONS[name].secret) expect({name, decides: OPTIONS[name].decides}).toEqual({name, decides: 'login'})
})

test('options that hold a credential, or choose a login, are told', () => {
  expect(holdsCredential({aws_auth_type: 'serviceRole'})).toBe(true)
  expect(holdsCredential({vertex_service_account_json: '{}'})).toBe(true)
  expect(holdsCredential({aws_region: 'us-east-1', azure_api_version: 'v1', aws_role_arn: '', unknown: 'x'})).toBe(
    false,
  )
})

test('an option is read in its own form alone', () => {
  expect(optionIn({aws_region: 'us-east-1'}, 'aws_region')).toBe('us-east-1')
  expect(optionIn({}, 'aws_region')).toBeUndefined()
  expect(optionIn(Object.create({aws_region: 'x'}), 'aws_region')).toBeUndefined()
  expect(() => optionIn({aws_region: 'a.b'}, 'aws_region')).toThrow(
    'aws_region: expected letters, digits and inner hyphens, 63 at most',
  )
  expect(() => optionNeeded({aws_region: ''}, 'aws_region')).toThrow('aws_region: is needed to call this provider')
  expect(() => checkOptions({anthropic_beta: 'a\r\nx: y'})).toThrow(WrongOptionFault)
  checkOptions({unknown: '\r\n', anthropic_beta: 'a,b'})
})

test('every option has a form and providers that are there; no two say the same header', () => {
  const names = Object.keys(OPTIONS) as OptionName[]
  for (const name of names) {
    expect(name).toMatch(/^[a-z][a-z0-9_]+$/)
    expect(Object.keys(GRAMMARS)).toContain(OPTIONS[name].takes)
    expect(OPTIONS[name].providers.filter(slug => !find(slug))).toEqual([])
    expect(OPTIONS[name].does).toMatch(/\.$/)
  }
  expect(new Set(names.map(headerOf)).size).toBe(names.length)
  expect(optionsFor('byteplus')).toEqual(['byteplus_region'])
})
