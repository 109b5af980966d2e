import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {cloudIdentity, credentialOrigins, placeDefaults} from '../src/app/cloud-identity.ts'
import {credentialFetch} from '../src/base/egress/credentials.ts'
import {Egress} from '../src/base/egress/pools.ts'
import {readProxies} from '../src/base/egress/proxy.ts'
import {readTrusted} from '../src/base/egress/trust.ts'
import {openLogins} from '../src/providers/auth/login.ts'
import {readSettings} from '../src/settings/index.ts'
import {sent} from './providers/catalog/ask.ts'

interface Heard {
  readonly method: string
  /** Host and path as they were meant. */
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Token servers of all clouds on one port of loopback; `answers` by the host and path that were meant. */
const received: Heard[] = []
let answers: Readonly<Record<string, (asked: Heard) => unknown>> = {}
let folder: string
let origin: string
let egress: Egress
const server = createServer((request, response) => {
  let body = ''
  request.on('data', part => {
    body += part
  })
  request.on('end', () => {
    const host = String(request.headers['x-meant-for'] ?? request.headers.host)
    const asked = {method: request.method!, url: host + request.url!, headers: request.headers, body}
    received.push(asked)
    const answer = answers[asked.url.split('?', 1)[0]!]
    const said = answer?.(asked)
    response.writeHead(answer ? 200 : 404)
    response.end(typeof said === 'string' ? said : JSON.stringify(said ?? {error: 'nobody knows'}))
  })
})
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  egress = new Egress({trusted: readTrusted([]), proxies: readProxies({}), connect_timeout_ms: 5000})
})
beforeEach(() => {
  received.length = 0
  answers = {}
})
afterAll(async () => {
  await egress.destroy()
  server.closeAllConnections()
  server.close()
  rmSync(folder, {recursive: true})
})

/**
 * What the settings make of the gateway: their own addresses are called as they are, the clouds' fixed ones lead to
 * this machine.
 */
function gatewayOf(env: Record<string, string>) {
  const {settings} = readSettings({env, readFile: () => ''})
  const named = credentialOrigins(settings)
  const real = credentialFetch(egress, named)
  const clock = {now_ms: Date.UTC(2026, 0, 2, 3, 4, 5)}
  const logins = openLogins({
    fetch: request => {
      const {origin: meant, host, pathname, search} = new URL(request.url)
      if (named.has(meant) && meant === origin) return real(request)
      const {host: _, ...headers} = request.headers
      return credentialFetch(
        egress,
        new Set([origin]),
      )({...request, url: origin + pathname + search, headers: {...headers, 'x-meant-for': host}})
    },
    now_ms: () => clock.now_ms,
    identity: cloudIdentity(settings),
    aws_domain: settings.aws_endpoint_domain,
    azure_authority: settings.azure_authority_host,
  })
  return {logins, clock, settings}
}

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const HI = {messages: [{role: 'user', content: 'Hi'}]}

describe('at Azure', () => {
  const AZURE = {azure_resource_name: 'res', azure_deployment_id: 'dep', azure_api_version: '2024-10-21'}
  const ask = async (logins: ReturnType<typeof gatewayOf>['logins'], azure_auth_mode: string) =>
    (
      await sent('azure-openai', {
        options: {...AZURE, azure_auth_mode},
        body: {model: 'gpt-4o', ...HI},
        key: null,
        logins,
      })
    ).headers.authorization
  const host = () => new URL(origin).host

  test('as an application with a secret: one call for all who ask, and another shortly before the token dies', async () => {
    const {logins, clock} = gatewayOf({
      AZURE_AUTH_MODE: 'entra',
      AZURE_AUTHORITY_HOST: origin,
      AZURE_ENTRA_TENANT_ID: 'tenant',
      AZURE_ENTRA_CLIENT_ID: 'client',
      AZURE_ENTRA_CLIENT_SECRET: 'hush',
    })
    answers = {
      [`${host()}/tenant/oauth2/v2.0/token`]: () => ({access_token: `token${received.length}`, expires_in: 3600}),
    }
    expect(await Promise.all(Array.from({length: 20}, () => ask(logins, 'gateway')))).toEqual(
      Array(20).fill('Bearer token1'),
    )
    expect(received.map(({body}) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      {
        client_id: 'client',
        client_secret: 'hush',
        grant_type: 'client_credentials',
        scope: 'https://cognitiveservices.azure.com/.default',
      },
    ])
    clock.now_ms += 54 * 60_000
    expect(await ask(logins, 'gateway')).toBe('Bearer token1')
    clock.now_ms += 2 * 60_000
    expect(await ask(logins, 'gateway')).toBe('Bearer token2')
  })

  test('as a workload: the token of its file, read anew each time', async () => {
    const AZURE_FEDERATED_TOKEN_FILE = file('azure', 'federated-1\n')
    const {logins, clock} = gatewayOf({
      AZURE_AUTH_MODE: 'workload',
      AZURE_AUTHORITY_HOST: `${origin}/`,
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_ID: 'client',
      AZURE_FEDERATED_TOKEN_FILE,
    })
    answers = {
      [`${host()}/tenant/oauth2/v2.0/token`]: ({body}) => ({
        access_token: new URLSearchParams(body).get('client_assertion'),
        expires_in: 60,
      }),
    }
    expect(await ask(logins, 'workload')).toBe('Bearer federated-1')
    writeFileSync(AZURE_FEDERATED_TOKEN_FILE, 'federated-2')
    clock.now_ms += 120_000
    expect(await ask(logins, 'gateway')).toBe('Bearer federated-2')
  })

  test('as a managed identity of App Service, which the settings name', async () => {
    const {logins} = gatewayOf({
      AZURE_AUTH_MODE: 'managed',
      AZURE_MANAGED_CLIENT_ID: 'who',
      IDENTITY_ENDPOINT: `${origin}/msi/token/`,
      IDENTITY_HEADER: 'head',
    })
    answers = {[`${host()}/msi/token/`]: () => ({access_token: 'managed', expires_in: 3600})}
    expect(await ask(logins, 'gateway')).toBe('Bearer managed')
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: `${host()}/msi/token/?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=who`,
      headers: {'x-identity-header': 'head'},
    })
  })

  test('as nobody, where nothing is set; and never for what an integration says of itself', async () => {
    await expect(ask(gatewayOf({}).logins, 'gateway')).rejects.toThrow('AZURE_AUTH_MODE is not set')
    const {logins} = gatewayOf({
      AZURE_AUTH_MODE: 'entra',
      AZURE_AUTHORITY_HOST: origin,
      AZURE_ENTRA_TENANT_ID: 'tenant',
      AZURE_ENTRA_CLIENT_ID: 'client',
      AZURE_ENTRA_CLIENT_SECRET: 'hush',
    })
    await expect(ask(logins, 'entra')).rejects.toThrow('azure_entra_client_id')
    const elsewhere = {azure_auth_mode: 'gateway', azure_foundry_url: 'https://evil.example.com/models'}
    await expect(sent('azure-ai', {options: elsewhere, body: {model: 'm', ...HI}, key: null, logins})).rejects.toThrow(
      'hosts of Azure alone',
    )
    expect(received).toEqual([])
  })
})

describe('at AWS', () => {
  const STS = (id: string) =>
    `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey>` +
    `<SessionToken>t</SessionToken><Expiration>2026-01-02T04:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
  const ask = async ({logins, settings}: ReturnType<typeof gatewayOf>, options: Record<string, string>) => {
    const whole = {...placeDefaults(settings), aws_region: 'eu-west-1', ...options}
    const {url, headers} = await sent('bedrock', {
      options: whole,
      body: {model: 'amazon.nova-lite-v1:0', ...HI},
      key: null,
      logins,
    })
    return [new URL(url).host, /Credential=(\w+)\//.exec(String(headers.authorization))?.[1]]
  }
  const form = ({body}: Heard) => Object.fromEntries(new URLSearchParams(body))

  test('with keys, by way of a source role, at its own region and domain, to the role of an integration', async () => {
    const gateway = gatewayOf({
      AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'AKIDGATEWAY',
      AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 'hush',
      AWS_ASSUME_ROLE_REGION: 'us-gov-west-1',
      AWS_ASSUME_ROLE_SOURCE_ARN: 'arn:aws:iam::1:role/source',
      AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: 'external',
      AWS_ENDPOINT_DOMAIN: 'aws.example.com',
    })
    answers = {
      'sts.us-gov-west-1.aws.example.com/': () => STS('ASIASOURCE'),
      'sts.eu-west-1.aws.example.com/': () => STS('ASIATARGET'),
    }
    const role = {aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::2:role/target'}
    const asked = await Promise.all(Array.from({length: 10}, () => ask(gateway, role)))
    expect(asked).toEqual(Array(10).fill(['bedrock-runtime.eu-west-1.aws.example.com', 'ASIATARGET']))
    expect(received.map(form)).toMatchObject([
      {Action: 'AssumeRole', RoleArn: 'arn:aws:iam::1:role/source', ExternalId: 'external'},
      {Action: 'AssumeRole', RoleArn: 'arn:aws:iam::2:role/target'},
    ])
    expect(received.map(({headers}) => /Credential=(\w+)\//.exec(String(headers.authorization))?.[1])).toEqual([
      'AKIDGATEWAY',
      'ASIASOURCE',
    ])
    expect(await ask(gateway, {aws_auth_type: 'serviceRole', aws_endpoint_domain: 'other.example.com'})).toEqual([
      'bedrock-runtime.eu-west-1.other.example.com',
      'ASIASOURCE',
    ])
  })

  test('as a pod of EKS, by the token of its file', async () => {
    const gateway = gatewayOf({
      AWS_WEB_IDENTITY_TOKEN_FILE: file('eks', 'pod-token\n'),
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod',
    })
    answers = {'sts.eu-west-1.amazonaws.com/': () => STS('ASIAPOD')}
    expect(await ask(gateway, {aws_auth_type: 'serviceRole'})).toEqual([
      'bedrock-runtime.eu-west-1.amazonaws.com',
      'ASIAPOD',
    ])
    expect(received.map(form)).toMatchObject([{Action: 'AssumeRoleWithWebIdentity', WebIdentityToken: 'pod-token'}])
  })

  test('as a container, with the token of its file', async () => {
    const credentials = {AccessKeyId: 'ASIABOX', SecretAccessKey: 's', Token: 't', Expiration: '2026-01-02T04:04:05Z'}
    answers = {
      [`${new URL(origin).host}/v1/credentials`]: () => credentials,
      '169.254.170.2/v2/credentials/x': () => credentials,
    }
    const pod = gatewayOf({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('box', 'box-token'),
    })
    expect(await ask(pod, {aws_auth_type: 'serviceRole'})).toEqual([
      'bedrock-runtime.eu-west-1.amazonaws.com',
      'ASIABOX',
    ])
    expect(received[0]!.headers.authorization).toBe('box-token')
    expect(
      (
        await ask(gatewayOf({AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/x'}), {
          aws_auth_type: 'serviceRole',
        })
      )[1],
    ).toBe('ASIABOX')
  })

  test.each(['ON', 'OFF'])('as an instance, AWS_IMDS_V1=%s', async AWS_IMDS_V1 => {
    answers = {
      '169.254.169.254/latest/api/token': () => 'session',
      '169.254.169.254/latest/meta-data/iam/security-credentials/': () => 'role',
      '169.254.169.254/latest/meta-data/iam/security-credentials/role': () => ({
        AccessKeyId: 'ASIABOX',
        SecretAccessKey: 's',
        Token: 't',
        Expiration: '2026-01-02T04:04:05Z',
      }),
    }
    expect((await ask(gatewayOf({AWS_IMDS_V1}), {aws_auth_type: 'serviceRole'}))[1]).toBe('ASIABOX')
    expect(received.map(({method, headers}) => [method, headers['x-aws-ec2-metadata-token']])).toEqual(
      AWS_IMDS_V1 === 'ON'
        ? [
            ['GET', undefined],
            ['GET', undefined],
          ]
        : [
            ['PUT', undefined],
            ['GET', 'session'],
            ['GET', 'session'],
          ],
    )
  })
})

describe('at Google Cloud', () => {
  const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/aws'
  const ask = async (logins: ReturnType<typeof gatewayOf>['logins']) => {
    const options = {vertex_auth_type: 'workload', vertex_project_id: 'p'}
    return (await sent('vertex-ai', {options, body: {model: 'gemini-2.5-flash', ...HI}, key: null, logins})).headers
      .authorization
  }

  test('by an identity at AWS, exchanged, and then the account that is named', async () => {
    const {logins, clock} = gatewayOf({
      GCP_WIF_AUDIENCE: AUDIENCE,
      GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'gateway@p.iam.gserviceaccount.com',
      AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'AKIDGATEWAY',
      AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: 'hush',
      AWS_ASSUME_ROLE_REGION: 'eu-west-1',
    })
    answers = {
      'sts.googleapis.com/v1/token': () => ({
        access_token: `exchanged${received.length}`,
        expires_in: 3600,
        token_type: 'Bearer',
      }),
      'iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/gateway%40p.iam.gserviceaccount.com:generateAccessToken':
        () => ({
          accessToken: `account${received.length}`,
          expireTime: new Date(clock.now_ms + 3_600_000).toISOString(),
        }),
    }
    expect(await Promise.all(Array.from({length: 10}, () => ask(logins)))).toEqual(Array(10).fill('Bearer account2'))
    const [exchange, account] = received
    expect(received).toHaveLength(2)
    const {subjectToken, ...asked} = JSON.parse(exchange!.body)
    expect(asked).toEqual({
      audience: AUDIENCE,
      grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      subjectTokenType: 'urn:ietf:params:aws:token-type:aws4_request',
    })
    const {url, method, headers} = JSON.parse(decodeURIComponent(subjectToken)) as {
      url: string
      method: string
      headers: {key: string; value: string}[]
    }
    expect([url, method]).toEqual([
      'https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
      'POST',
    ])
    const said = Object.fromEntries(headers.map(({key, value}) => [key, value]))
    expect(said).toMatchObject({
      host: 'sts.eu-west-1.amazonaws.com',
      'x-amz-date': '20260102T030405Z',
      'x-goog-cloud-target-resource': AUDIENCE,
    })
    expect(said.Authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDGATEWAY\/20260102\/eu-west-1\/sts\/aws4_request, SignedHeaders=host;x-amz-date;x-goog-cloud-target-resource, Signature=[0-9a-f]{64}$/,
    )
    expect(account!.headers.authorization).toBe('Bearer exchanged1')
    expect(JSON.parse(account!.body)).toEqual({
      scope: ['https://www.googleapis.com/auth/cloud-platform'],
      lifetime: '3600s',
    })
    clock.now_ms += 3_400_000
    expect(await ask(logins)).toBe('Bearer account4')
  })

  test('by the token of a file, as the pool’s own principal', async () => {
    const {logins} = gatewayOf({
      GCP_AUTH_MODE: 'wif',
      GCP_WIF_AUDIENCE: AUDIENCE,
      GCP_WIF_TOKEN_FILE: file('gcp', 'oidc-token\n'),
    })
    answers = {'sts.googleapis.com/v1/token': () => ({access_token: 'exchanged', expires_in: 3600})}
    expect(await ask(logins)).toBe('Bearer exchanged')
    expect(JSON.parse(received[0]!.body)).toMatchObject({
      subjectToken: 'oidc-token',
      subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
    })
  })

  test('a refusal is told in Google’s words, without the token', async () => {
    const {logins} = gatewayOf({GCP_WIF_AUDIENCE: AUDIENCE, GCP_WIF_TOKEN_FILE: file('gcp', 'oidc-token')})
    answers = {
      'sts.googleapis.com/v1/token': () => ({error: 'invalid_grant', error_description: 'The audience is not known.'}),
    }
    await expect(ask(logins)).rejects.toThrow(/invalid_grant: The audience is not known/)
  })
})

test.each<[env: Record<string, string>, sentence: string]>([
  [
    {AZURE_AUTH_MODE: 'entra'},
    'AZURE_AUTH_MODE=entra needs AZURE_ENTRA_TENANT_ID, AZURE_ENTRA_CLIENT_ID, AZURE_ENTRA_CLIENT_SECRET as well.',
  ],
  [{AZURE_ENTRA_CLIENT_ID: 'x'}, 'AZURE_ENTRA_CLIENT_ID would have no effect without AZURE_AUTH_MODE=entra.'],
  [
    {AZURE_AUTH_MODE: 'workload', AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c'},
    'AZURE_AUTH_MODE=workload needs AZURE_FEDERATED_TOKEN_FILE as well.',
  ],
  [
    {AWS_ASSUME_ROLE_ACCESS_KEY_ID: 'x'},
    'AWS_ASSUME_ROLE_ACCESS_KEY_ID needs AWS_ASSUME_ROLE_SECRET_ACCESS_KEY as well.',
  ],
  [
    {AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: 'x'},
    'AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID would have no effect without AWS_ASSUME_ROLE_SOURCE_ARN.',
  ],
  [{GCP_AUTH_MODE: 'wif'}, 'GCP_AUTH_MODE=wif needs GCP_WIF_AUDIENCE as well.'],
  [
    {GCP_AUTH_MODE: 'workload', GCP_WIF_AUDIENCE: 'a'},
    'GCP_WIF_AUDIENCE would have no effect with GCP_AUTH_MODE=workload.',
  ],
  [{GCP_WIF_TOKEN_FILE: '/a'}, 'GCP_WIF_TOKEN_FILE needs GCP_WIF_AUDIENCE as well.'],
])('%o is refused', (env, sentence) => {
  expect(() => readSettings({env, readFile: () => ''})).toThrow(expect.objectContaining({sentences: [sentence]}))
})
