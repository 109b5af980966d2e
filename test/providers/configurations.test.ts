import {describe, expect, test} from 'vitest'
import {newerSettings, SECRET_SETTINGS, settingsOf} from '../../src/providers/configurations.ts'
import {OPTIONS} from '../../src/providers/option-table.ts'
import {list} from '../../src/providers/registry.ts'

const paths = (kind: string, said: unknown) =>
  settingsOf(kind)
    .safeParse(said)
    .error?.issues.map(issue => issue.path.join('.') || issue.code) ?? []
const azure = {
  azure_auth_mode: 'default',
  azure_resource_name: 'r',
  azure_deployment_config: [
    {azure_api_version: '2024-10-21', azure_deployment_name: 'd', azure_model_slug: 'm', is_default: false},
  ],
}
const aws = {aws_auth_type: 'accessKey', aws_region: 'r', aws_access_key_id: 'i', aws_secret_access_key: 's'}

describe('the settings of a kind', () => {
  test.each<[string, object]>([
    [
      'openai',
      {
        openai_organization: 'o',
        openai_project: 'p',
        custom_host: 'https://x.example/v1',
        custom_headers: {'X-A': '1'},
      },
    ],
    ['groq', {}],
    ['azure-openai', azure],
    [
      'azure-openai',
      {
        ...azure,
        azure_auth_mode: 'entra',
        azure_entra_tenant_id: 't',
        azure_entra_client_id: 'c',
        azure_entra_client_secret: 's',
      },
    ],
    ['azure-openai', {...azure, azure_auth_mode: 'managed'}],
    ['azure-ai', {azure_auth_mode: 'default', azure_foundry_url: 'https://x.example', azure_api_version: 'v1'}],
    ['bedrock', aws],
    ['bedrock', {aws_auth_type: 'assumedRole', aws_region: 'r', aws_role_arn: 'a', aws_external_id: null}],
    ['sagemaker', {...aws, amzn_sagemaker_model_name: 'm'}],
    [
      'vertex-ai',
      {vertex_auth_type: 'serviceAccount', vertex_region: 'r', vertex_service_account_json: {client_email: 'e'}},
    ],
    [
      'vertex-ai',
      {vertex_auth_type: 'basic', vertex_region: 'r', vertex_project_id: 'p', vertex_skip_ptu_cost_attribution: true},
    ],
    ['workers-ai', {workers_ai_account_id: 'a'}],
    ['huggingface', {huggingface_base_url: 'https://x.example'}],
    ['cortex', {snowflake_account: 'a'}],
  ])('%s takes %j', (kind, said) => {
    expect(settingsOf(kind).parse(said)).toEqual(said)
  })

  test.each<[string, object, string]>([
    ['openai', {azure_resource_name: 'r'}, 'unrecognized_keys'],
    ['openai', {openai_organization: ''}, 'openai_organization'],
    ['openai', {openai_project: 'a•b'}, 'openai_project'],
    ['openai', {custom_headers: {'bad name': '1'}}, 'custom_headers.bad name'],
    ['openai', {custom_headers: {'X-A': 'a\r\nb'}}, 'custom_headers.X-A'],
    ['openai', {custom_headers: {Host: 'x'}}, 'custom_headers.Host'],
    [
      'openai',
      {custom_headers: Object.fromEntries(Array.from({length: 51}, (_, at) => [`x-${at}`, '']))},
      'custom_headers',
    ],
    ['azure-openai', {...azure, azure_auth_mode: 'entra'}, 'azure_entra_client_secret'],
    ['azure-openai', {...azure, azure_deployment_config: []}, 'azure_deployment_config'],
    ['azure-openai', {}, 'azure_resource_name'],
    ['bedrock', {aws_auth_type: 'accessKey', aws_region: 'r'}, 'aws_secret_access_key'],
    ['vertex-ai', {vertex_auth_type: 'serviceAccount', vertex_region: 'r'}, 'vertex_service_account_json'],
    ['workers-ai', {}, 'workers_ai_account_id'],
    ['toString', {azure_resource_name: 'r'}, 'unrecognized_keys'],
  ])('%s refuses %j for %s', (kind, said, path) => {
    expect(paths(kind, said)).toContain(path)
  })

  test('the cost of provisioned throughput is declined under either name, kept under one', () => {
    const vertex = {vertex_auth_type: 'basic', vertex_region: 'r', vertex_project_id: 'p'}
    const said = settingsOf('vertex-ai').parse({...vertex, skipPtuCostAttribution: true})
    expect(said).toEqual({...vertex, vertex_skip_ptu_cost_attribution: true})
  })

  test('every secret is one that some kind takes', () => {
    const whole = {
      custom_headers: {},
      azure_entra_client_secret: 's',
      vertex_service_account_json: {},
      aws_access_key_id: 'i',
      aws_secret_access_key: 's',
      aws_session_token: 's',
      oracle_private_key: 's',
      oracle_key_passphrase: 's',
      snowflake_private_key: 's',
      snowflake_key_passphrase: 's',
    }
    expect([...SECRET_SETTINGS].sort()).toEqual(Object.keys(whole).sort())
  })
})

describe('older fields', () => {
  test('one deployment stands for a list of one', () => {
    expect(newerSettings({resourceName: 'r', deploymentName: 'd', apiVersion: 'v'})).toEqual({
      azure_auth_mode: 'default',
      azure_resource_name: 'r',
      azure_deployment_config: [
        {azure_api_version: 'v', azure_deployment_name: 'd', azure_model_slug: 'd', is_default: true},
      ],
    })
  })

  test('either older name declines the cost of provisioned throughput', () => {
    expect(newerSettings({vertexSkipPtuCostAttribution: false})).toEqual({vertex_skip_ptu_cost_attribution: false})
    expect(newerSettings({skipPtuCostAttribution: true})).toEqual({vertex_skip_ptu_cost_attribution: true})
  })

  test('nothing said is nothing set', () => {
    expect(newerSettings({resourceName: null, deploymentName: undefined})).toEqual({})
  })
})

describe('Azure OpenAI by a few settings, as `providers create --set` sends them', () => {
  const settings = (more: object) => settingsOf('azure-openai').safeParse({azure_resource_name: 'my-models', ...more})

  test.each([
    [{azure_api_version: '2024-10-21'}],
    [{azure_api_version: 'v1', azure_deployment_id: 'my-gpt'}],
    [{azure_api_version: '2024-10-21', azure_auth_mode: 'managed', azure_model_name: 'gpt-4o'}],
  ])('%j are enough', more => {
    expect(settings(more)).toMatchObject({success: true, data: {azure_auth_mode: 'default', ...more}})
  })

  test.each([[{}], [{azure_deployment_id: 'my-gpt'}]])('%j are not: the sentence says what is', more => {
    const {error} = settings(more)
    expect(error!.issues).toMatchObject([
      {path: ['azure_deployment_config'], message: expect.stringContaining('azure_api_version')},
    ])
  })
})

describe('an integration takes every option of its kind that is for requests alone', () => {
  const VALUES: Readonly<Record<string, unknown>> = {
    flag: true,
    ocid: 'ocid1.compartment.oc1..aaaa',
    segment: 'v1',
    line: 'a-line',
    label: 'a',
  }
  const rows = list().flatMap(({slug}) =>
    Object.entries(OPTIONS)
      .filter(
        ([, {providers, takes, ...row}]) =>
          providers.includes(slug) && !('secret' in row) && !('decides' in row) && takes !== 'json',
      )
      .map(([name, {takes}]) => [slug, name, VALUES[takes]] as const),
  )
  test.each(rows)('%s %s', (slug, name, value) => {
    const of_this = (said: object) =>
      (settingsOf(slug).safeParse(said).error?.issues ?? []).filter(
        ({path, code}) => path[0] === name || code === 'unrecognized_keys',
      )
    const enums = name === 'oracle_serving_mode' ? 'ON_DEMAND' : value
    expect(of_this({[name]: enums})).toEqual([])
    expect(of_this({[name]: {}}).length).toBe(1)
  })
  test('and there are some', () => expect(rows.length).toBeGreaterThan(30))
})
