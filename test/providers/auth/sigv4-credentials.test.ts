import {expect, test} from 'vitest'
import {type AwsCredentialsOptions, awsCredentials} from '../../../src/providers/auth/aws-credentials.ts'
import {AwsCredentialsFault, type CredentialFetch} from '../../../src/providers/auth/aws-login.ts'
import {sign} from '../../../src/providers/auth/sigv4.ts'

type Asked = Parameters<CredentialFetch>[0]

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5)
const KEYS = {access_key_id: 'AKIDEXAMPLE', secret_access_key: 'secret-of-the-caller'}
const ROLE = 'arn:aws:iam::111122223333:role/blue'

/** As STS writes it; the credentials name the role they are of. */
function stsAnswer(role: string, action = 'AssumeRole', expires_ms = NOW_MS + 3_600_000): string {
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <${action}Result>
    <AssumedRoleUser><Arn>${role}</Arn><AssumedRoleId>AROA:gateway</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>ASIA-${role.split('/').at(-1)}</AccessKeyId>
      <SecretAccessKey>secret-${role.split('/').at(-1)}</SecretAccessKey>
      <SessionToken>FQoGZXIvYXdzE//token+/==</SessionToken>
      <Expiration>${new Date(expires_ms).toISOString()}</Expiration>
    </Credentials>
  </${action}Result>
</${action}Response>`
}

/** An AWS that answers by the address asked, and remembers what it was asked. */
function setUp(
  answer: (asked: Asked) => {status: number; body: string},
  identity: AwsCredentialsOptions['identity'] = {},
) {
  const asked: Asked[] = []
  const clock = {now_ms: NOW_MS}
  const fetch: CredentialFetch = async request => {
    asked.push(request)
    return answer(request)
  }
  return {asked, clock, credentials: awsCredentials({fetch, now_ms: () => clock.now_ms, identity})}
}

const sts = ({body}: Asked) => {
  const form = new URLSearchParams(body)
  return {status: 200, body: stsAnswer(form.get('RoleArn')!, form.get('Action')!)}
}

test('keys are themselves, without a call', async () => {
  const {asked, credentials} = setUp(sts)
  expect(await credentials({type: 'accessKey', ...KEYS, session_token: 't'}, 'us-east-1')).toMatchObject({
    ...KEYS,
    session_token: 't',
  })
  expect(asked).toEqual([])
})

test('a role is asked for in its region, signed with the caller’s keys, and kept', async () => {
  const {asked, clock, credentials} = setUp(sts)
  const login = {type: 'assumedRole', role_arn: ROLE, external_id: 'a b&c', keys: KEYS} as const
  const temporary = {
    access_key_id: 'ASIA-blue',
    secret_access_key: 'secret-blue',
    session_token: 'FQoGZXIvYXdzE//token+/==',
  }
  expect(await Promise.all([credentials(login, 'eu-west-1'), credentials(login, 'eu-west-1')])).toEqual([
    temporary,
    temporary,
  ])
  clock.now_ms += 50 * 60_000
  expect(await credentials(login, 'eu-west-1')).toEqual(temporary)
  expect(asked).toHaveLength(1)
  const [{method, url, headers, body}] = asked as [Asked]
  expect({method, url}).toEqual({method: 'POST', url: 'https://sts.eu-west-1.amazonaws.com/'})
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: ROLE,
    RoleSessionName: 'gateway',
    DurationSeconds: '3600',
    ExternalId: 'a b&c',
  })
  const type = {'content-type': 'application/x-www-form-urlencoded; charset=utf-8'}
  const place = {method: 'POST', host: 'sts.eu-west-1.amazonaws.com', path: '/', service: 'sts', region: 'eu-west-1'}
  expect(headers).toEqual({...type, ...sign({...place, headers: type, body: body!, credentials: KEYS, now_ms: NOW_MS})})
  clock.now_ms += 6 * 60_000
  await credentials(login, 'eu-west-1')
  expect(asked).toHaveLength(2)
})

test('one caller’s role is never given to another caller', async () => {
  const {asked, credentials} = setUp(sts)
  const login = {type: 'assumedRole', role_arn: ROLE, external_id: 'one', keys: KEYS} as const
  await credentials(login, 'us-east-1')
  await credentials({...login, external_id: 'two'}, 'us-east-1')
  await credentials({...login, keys: {...KEYS, secret_access_key: 'other'}}, 'us-east-1')
  await credentials(login, 'us-west-2')
  expect(asked).toHaveLength(4)
})

test('in two hops the gateway becomes its source role first, then the caller’s', async () => {
  const source_role = {role_arn: 'arn:aws:iam::999988887777:role/source', external_id: 'ours'}
  const {asked, credentials} = setUp(sts, {keys: KEYS, source_role})
  expect(await credentials({type: 'assumedRole', role_arn: ROLE, external_id: 'theirs'}, 'us-east-1')).toMatchObject({
    access_key_id: 'ASIA-blue',
  })
  const hops = asked.map(({headers, body}) => {
    const form = new URLSearchParams(body)
    return [
      form.get('RoleArn'),
      form.get('ExternalId'),
      /Credential=([^/]+)/.exec(headers.authorization!)?.[1],
      'x-amz-security-token' in headers,
    ]
  })
  expect(hops).toEqual([
    [source_role.role_arn, 'ours', 'AKIDEXAMPLE', false],
    [ROLE, 'theirs', 'ASIA-source', true],
  ])
  expect(await credentials({type: 'serviceRole'}, 'us-east-1')).toMatchObject({access_key_id: 'ASIA-source'})
  expect(asked).toHaveLength(2)
})

test('a web identity is sent unsigned with its token, read anew', async () => {
  let reads = 0
  const token = async () => `jwt-${++reads}\n`
  const {asked, clock, credentials} = setUp(sts, {web_identity: {role_arn: ROLE, token}})
  expect(await credentials({type: 'serviceRole'}, 'us-east-1')).toMatchObject({access_key_id: 'ASIA-blue'})
  clock.now_ms += 3_600_000
  await credentials({type: 'serviceRole'}, 'us-east-1').catch(() => undefined)
  expect(asked.map(({headers}) => 'authorization' in headers)).toEqual([false, false])
  expect(asked.map(({body}) => new URLSearchParams(body).get('WebIdentityToken'))).toEqual(['jwt-1', 'jwt-2'])
})

const METADATA = {
  AccessKeyId: 'ASIA-meta',
  SecretAccessKey: 'secret-meta',
  Token: 'token-meta',
  Expiration: new Date(NOW_MS + 3_600_000).toISOString(),
}

test('an instance’s role is asked for with a session token (IMDSv2)', async () => {
  const {asked, credentials} = setUp(({method, url}) => {
    if (method === 'PUT') return {status: 200, body: 'session\n'}
    return {status: 200, body: url.endsWith('/') ? 'blue-role\nother' : JSON.stringify({Code: 'Success', ...METADATA})}
  })
  expect(await credentials({type: 'serviceRole'}, 'us-east-1')).toEqual({
    access_key_id: 'ASIA-meta',
    secret_access_key: 'secret-meta',
    session_token: 'token-meta',
  })
  expect(asked.map(({method, url, headers}) => [method, url, headers])).toEqual([
    ['PUT', 'http://169.254.169.254/latest/api/token', {'x-aws-ec2-metadata-token-ttl-seconds': '21600'}],
    [
      'GET',
      'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
      {'x-aws-ec2-metadata-token': 'session'},
    ],
    [
      'GET',
      'http://169.254.169.254/latest/meta-data/iam/security-credentials/blue-role',
      {'x-aws-ec2-metadata-token': 'session'},
    ],
  ])
})

test('a container’s credentials come from where its platform says, with its token', async () => {
  const url = 'http://169.254.170.23/v1/credentials'
  const {asked, credentials} = setUp(() => ({status: 200, body: JSON.stringify(METADATA)}), {
    container: {url, token: async () => 'pod-token\n'},
  })
  expect(await credentials({type: 'serviceRole'}, 'us-east-1')).toMatchObject({access_key_id: 'ASIA-meta'})
  expect(asked).toEqual([{method: 'GET', url, headers: {authorization: 'pod-token'}}])
})

test.each([
  'http://credentials.example/v1',
  'ftp://169.254.170.2/v1',
  'not an address',
  'http://169.254.169.254/latest',
])('a container’s credentials are not asked of %s', async url => {
  const {asked, credentials} = setUp(() => ({status: 200, body: JSON.stringify(METADATA)}), {container: {url}})
  await expect(credentials({type: 'serviceRole'}, 'us-east-1')).rejects.toThrow(AwsCredentialsFault)
  expect(asked).toEqual([])
})

const xml =
  '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>'

test.each([
  [
    'refused',
    {status: 403, body: xml},
    `AWS STS refused the role ${ROLE}: AccessDenied: User is not authorized to perform: sts:AssumeRole`,
  ],
  ['refused without a reason', {status: 500, body: ''}, `AWS STS refused the role ${ROLE}: HTTP 500`],
  ['answered with a page', {status: 200, body: '<html>'}, 'AWS STS answered without credentials.'],
  [
    'answered in part',
    {status: 200, body: stsAnswer(ROLE).replace(/<SessionToken>.*<\/SessionToken>/, '')},
    'AWS STS answered without credentials.',
  ],
  [
    'answered without a time',
    {status: 200, body: stsAnswer(ROLE).replace(/<Expiration>.*</, '<Expiration>soon<')},
    'AWS STS answered without credentials.',
  ],
])('a role that is %s: a sentence without secrets', async (_, answer, sentence) => {
  const {credentials} = setUp(() => answer)
  const failed = credentials({type: 'assumedRole', role_arn: ROLE, keys: KEYS}, 'us-east-1')
  await expect(failed).rejects.toThrow(new AwsCredentialsFault(sentence))
  await expect(failed).rejects.not.toThrow(/secret/)
})

test.each([
  ['no token', {status: 403, body: ''}],
  ['no role', {status: 200, body: ''}],
])('an instance that gives %s', async (_, answer) => {
  const {credentials} = setUp(() => answer)
  await expect(credentials({type: 'serviceRole'}, 'us-east-1')).rejects.toThrow(AwsCredentialsFault)
})

test('without keys and without an identity there is nothing to sign with', async () => {
  const {asked, credentials} = setUp(sts, {instance: false})
  await expect(credentials({type: 'serviceRole'}, 'us-east-1')).rejects.toThrow(
    'the gateway has no identity of its own',
  )
  expect(asked).toEqual([])
})

test.each(['', 'us-east-1.evil.example/', 'a b', '-x', '#'])('a region %j does not become a host', async region => {
  const {asked, credentials} = setUp(sts)
  await expect(credentials({type: 'assumedRole', role_arn: ROLE, keys: KEYS}, region)).rejects.toThrow(
    AwsCredentialsFault,
  )
  expect(asked).toEqual([])
})
