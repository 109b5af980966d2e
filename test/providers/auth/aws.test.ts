import {expect, test} from 'vitest'
import {awsSignature} from '../../../src/providers/auth/aws.ts'
import {sign} from '../../../src/providers/auth/sigv4.ts'
import type {Options} from '../../../src/providers/options.ts'
import {NOW_MS, noLogins, sent} from '../catalog/ask.ts'
import {recorded} from './fetches.ts'

const KEYS = {aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'}
const CREDENTIALS = {access_key_id: KEYS.aws_access_key_id, secret_access_key: KEYS.aws_secret_access_key}
const CHAT = {model: 'amazon.nova-lite-v1:0', messages: [{role: 'user', content: 'Hi'}]}
const CONVERSE = {messages: [{role: 'user', content: [{text: 'Hi'}]}]}

/**
 * SigV4 itself is held to AWS's published vectors in sigv4.test.ts; here it is which request is signed, for what
 * service and region.
 */
function signature(over: {
  path: string
  host: string
  service: string
  region: string
  body: string
  query?: string
  session_token?: string
}) {
  const {session_token, ...request} = over
  const credentials = {...CREDENTIALS, session_token: session_token ?? null}
  const headers = {'content-type': 'application/json'}
  const {host: _, ...added} = sign({method: 'POST', ...request, headers, credentials, now_ms: NOW_MS})
  return {...headers, ...added}
}

test('Bedrock: the body as it leaves is signed, for bedrock and the region', async () => {
  const {url, headers} = await sent('bedrock', {
    options: {...KEYS, aws_auth_type: 'accessKey', aws_region: 'eu-west-1', aws_session_token: 's'},
    body: CHAT,
    key: null,
  })
  const host = 'bedrock-runtime.eu-west-1.amazonaws.com'
  const path = '/model/amazon.nova-lite-v1%3A0/converse'
  expect(url).toBe(`https://${host}${path}`)
  expect(headers).toEqual(
    signature({
      host,
      path,
      service: 'bedrock',
      region: 'eu-west-1',
      body: JSON.stringify(CONVERSE),
      session_token: 's',
    }),
  )
  expect(headers.authorization).toContain(
    'Credential=AKIDEXAMPLE/20260102/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token',
  )
})

test('SageMaker: pass-through alone, with its headers, signed for sagemaker', async () => {
  const {url, headers} = await sent('sagemaker', {
    endpoint: 'proxy',
    path: '/endpoints/my-endpoint/invocations',
    options: {...KEYS, aws_region: 'us-west-2', amzn_sagemaker_target_model: 'model.tar.gz'},
    body: {inputs: 'Hi'},
    key: null,
  })
  expect(url).toBe('https://runtime.sagemaker.us-west-2.amazonaws.com/endpoints/my-endpoint/invocations')
  expect(headers['x-amzn-sagemaker-target-model']).toBe('model.tar.gz')
  expect(headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/us-west-2\/sagemaker\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amzn-sagemaker-target-model, Signature=[0-9a-f]{64}$/,
  )
})

test.each([
  [
    'bedrock',
    {
      endpoint: 'rerank',
      body: {model: 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0', query: 'q', documents: ['a']},
    },
    'bedrock-agent-runtime.us-east-1.amazonaws.com',
    'bedrock',
  ],
  [
    'bedrock',
    {endpoint: 'proxy', path: '/model-invocation-job', body: {jobName: 'j'}},
    'bedrock.us-east-1.amazonaws.com',
    'bedrock',
  ],
  [
    'bedrock-mantle',
    {body: {...CHAT, model: 'openai.gpt-oss-120b'}},
    'bedrock-mantle.us-east-1.api.aws',
    'bedrock-mantle',
  ],
  [
    'claude-platform-aws',
    {body: {...CHAT, max_tokens: 1}, options: {anthropic_aws_workspace_id: 'w'}},
    'aws-external-anthropic.us-east-1.api.aws',
    'aws-external-anthropic',
  ],
] as const)('%s %#: host and service', async (slug, asked, host, service) => {
  const {url, headers} = await sent(slug, {
    ...asked,
    options: {...KEYS, ...('options' in asked ? asked.options : {})},
    key: null,
  })
  expect(new URL(url).host).toBe(host)
  expect(headers.authorization).toContain(`/us-east-1/${service}/aws4_request`)
})

test('China, and a domain that the settings name', async () => {
  const host = async (options: Record<string, string>) =>
    new URL((await sent('bedrock', {options: {...KEYS, ...options}, body: CHAT, key: null})).url).host
  expect(await host({aws_region: 'cn-north-1'})).toBe('bedrock-runtime.cn-north-1.amazonaws.com.cn')
  expect(await host({aws_region: 'us-east-1', aws_endpoint_domain: 'aws.example.com'})).toBe(
    'bedrock-runtime.us-east-1.aws.example.com',
  )
})

test('an assumed role is asked of STS, and its session signs', async () => {
  const xml = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2026-01-02T04:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
  const {calls, logins} = recorded(() => ({body: xml}))
  const options = {
    ...KEYS,
    aws_auth_type: 'assumedRole',
    aws_role_arn: 'arn:aws:iam::111122223333:role/r',
    aws_external_id: 'e',
  }
  const {headers} = await sent('bedrock', {options, body: CHAT, key: null, logins})
  expect(calls.map(({url}) => url)).toEqual(['https://sts.us-east-1.amazonaws.com/'])
  expect(Object.fromEntries(new URLSearchParams(calls[0]!.body))).toMatchObject({
    RoleArn: 'arn:aws:iam::111122223333:role/r',
    ExternalId: 'e',
  })
  expect(headers).toMatchObject({
    'x-amz-security-token': 't',
    authorization: expect.stringContaining('Credential=ASIA/'),
  })
})

test('which login is chosen, and which uses the gateway’s own identity', () => {
  const login = awsSignature('bedrock')
  const role = {aws_auth_type: 'assumedRole', aws_role_arn: 'r'}
  const cases: readonly Options[] = [
    {},
    {aws_auth_type: 'apiKey', ...KEYS},
    KEYS,
    {aws_auth_type: 'serviceRole'},
    role,
    {...role, ...KEYS},
  ]
  expect(cases.map(options => [login.chosen(options), login.usesOwnIdentity(options)])).toEqual([
    [false, false],
    [false, false],
    [true, false],
    [true, true],
    [true, true],
    [true, false],
  ])
})

test('a refusal of AWS is a login’s fault', async () => {
  const {logins} = recorded(() => ({
    status: 403,
    body: '<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>',
  }))
  const options = {...KEYS, aws_auth_type: 'assumedRole', aws_role_arn: 'r'}
  await expect(sent('bedrock', {options, body: CHAT, key: null, logins})).rejects.toMatchObject({
    name: 'LoginFault',
    message: 'AWS STS refused the role r: AccessDenied: no',
  })
  await expect(
    sent('bedrock', {options: {aws_auth_type: 'accessKey'}, body: CHAT, key: null, logins: noLogins}),
  ).rejects.toThrow('aws_access_key_id: is needed')
})
