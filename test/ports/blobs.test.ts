import {createHash} from 'node:crypto'
import {mkdtempSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {openLogStore} from '../../src/app/log-store.ts'
import {withBreaker} from '../../src/ports/blobs/breaker.ts'
import {BlobFault, type Blobs} from '../../src/ports/blobs/index.ts'
import {objectKey} from '../../src/ports/blobs/paths.ts'
import type {CredentialFetch} from '../../src/providers/auth/aws-login.ts'
import {readSettings} from '../../src/settings/index.ts'
import {awsAuthorization, isSigned, startTwin, type Twin, type TwinKey} from '../support/clouds/log-store.ts'

const ACCOUNT_KEY = Buffer.from('a key of a storage account, long enough').toString('base64')
const S3_KEY = {kind: 's3', id: 'AKIDEXAMPLE', secret: 'a secret / with + signs', region: 'eu-west-1'} as const
const KEYS = {LOG_STORE_ACCESS_KEY: S3_KEY.id, LOG_STORE_SECRET_KEY: S3_KEY.secret}
const FOUND = objectKey('v2', {
  log_id: '0195a0c2-1111-7000-8000-000000000001',
  organisation_id: '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a01',
  workspace_slug: 'blue team (1)',
  created_at: '2026-03-04T05:06:07.008Z',
  retention_days: 30,
})
const OBJECT = {
  body: Buffer.from('{"n":1,"text":"ü"}'),
  content_type: 'application/json',
  keep_until_ms: Date.parse('2026-04-03T05:06:07.008Z'),
}

interface Kind {
  readonly key: TwinKey
  readonly env: Readonly<Record<string, string>>
  /** Answers calls for credentials. */
  readonly fetch?: CredentialFetch
}

const tokenFile = join(mkdtempSync(join(tmpdir(), 'gateway-tokens-')), 'token')
writeFileSync(tokenFile, 'a token of the cluster\n')
const IN_AN_HOUR = () => new Date(Date.now() + 3_600_000).toISOString()
const xml = (action: string, id: string) =>
  `<${action}Response><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>of ${id}</SecretAccessKey>` +
  `<SessionToken>session of ${id}</SessionToken><Expiration>${IN_AN_HOUR()}</Expiration></Credentials></${action}Response>`
const temporary = (id: string) =>
  ({kind: 's3', id, secret: `of ${id}`, region: 'eu-west-1', session_token: `session of ${id}`}) as const
const ASSUMED = {
  LOG_STORE: 's3_assume',
  LOG_STORE_REGION: 'eu-west-1',
  LOG_STORE_AWS_ROLE_ARN: 'arn:aws:iam::1:role/logs',
}

/** STS: web identities, and roles with the external id that they ask for. */
const sts: CredentialFetch = async ({url, body = '', headers}) => {
  expect(url).toBe('https://sts.eu-west-1.amazonaws.com/')
  const form = new URLSearchParams(body)
  if (form.get('Action') === 'AssumeRoleWithWebIdentity') {
    expect([form.get('WebIdentityToken'), form.get('RoleArn')]).toEqual([
      'a token of the cluster',
      'arn:aws:iam::1:role/pod',
    ])
    return {status: 200, body: xml('AssumeRoleWithWebIdentity', 'ASIAPOD')}
  }
  expect([form.get('RoleArn'), form.get('ExternalId')]).toEqual(['arn:aws:iam::1:role/logs', 'external-7'])
  const [, id] = /Credential=([^/]+)/.exec(headers.authorization ?? '') ?? []
  expect(['ASIAPOD', S3_KEY.id]).toContain(id)
  return {status: 200, body: xml('AssumeRole', 'ASIALOGS')}
}

const bearer = (
  token: string,
  place: RegExp,
  asked: (body: string) => void = () => {},
): Pick<Kind, 'key' | 'fetch'> => ({
  key: {kind: 'bearer', token},
  fetch: async ({url, body = ''}) => {
    expect(url).toMatch(place)
    asked(body)
    return {
      status: 200,
      body: JSON.stringify({access_token: token, expires_in: 3600, accessToken: token, expireTime: IN_AN_HOUR()}),
    }
  },
})

const KINDS: Record<string, Kind> = {
  s3: {
    key: S3_KEY,
    env: {LOG_STORE: 's3', LOG_STORE_REGION: 'eu-west-1', LOG_STORE_GENERATIONS_BUCKET: 'bucket', ...KEYS},
  },
  s3_custom: {key: {...S3_KEY, region: 'us-east-1'}, env: {LOG_STORE: 's3_custom', ...KEYS}},
  's3_assume with keys': {
    key: temporary('ASIALOGS'),
    env: {...ASSUMED, LOG_STORE_AWS_EXTERNAL_ID: 'external-7', ...KEYS},
    fetch: sts,
  },
  's3_assume as a pod': {
    key: temporary('ASIALOGS'),
    env: {
      ...ASSUMED,
      LOG_STORE_AWS_EXTERNAL_ID: 'external-7',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod',
    },
    fetch: sts,
  },
  's3_assume as the pod itself': {
    key: temporary('ASIAPOD'),
    env: {
      LOG_STORE: 's3_assume',
      LOG_STORE_REGION: 'eu-west-1',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod',
    },
    fetch: sts,
  },
  's3_assume on an instance': {
    key: temporary('ASIAINSTANCE'),
    env: {LOG_STORE: 's3_assume', LOG_STORE_REGION: 'eu-west-1'},
    fetch: async ({url}) => {
      if (url.endsWith('/api/token')) return {status: 200, body: 'a session'}
      if (url.endsWith('/security-credentials/')) return {status: 200, body: 'role-of-instance'}
      const said = {
        AccessKeyId: 'ASIAINSTANCE',
        SecretAccessKey: 'of ASIAINSTANCE',
        Token: 'session of ASIAINSTANCE',
        Expiration: IN_AN_HOUR(),
      }
      return {status: 200, body: JSON.stringify(said)}
    },
  },
  gcs: {key: {...S3_KEY, region: 'auto'}, env: {LOG_STORE: 'gcs', ...KEYS}},
  'gcs_assume by a federation': {
    ...bearer('a-token-of-google', /^https:\/\/(?:sts|iamcredentials)\.googleapis\.com\//),
    env: {
      LOG_STORE: 'gcs_assume',
      GCP_WIF_AUDIENCE: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      GCP_WIF_SERVICE_ACCOUNT_EMAIL: 'logs@example.com',
      GCP_WIF_TOKEN_FILE: tokenFile,
    },
  },
  'gcs_assume on a machine': {
    ...bearer('a-token-of-the-machine', /^http:\/\/169\.254\.169\.254\//),
    env: {LOG_STORE: 'gcs_assume'},
  },
  azure: {
    key: {kind: 'azure', account: 'account1', key: ACCOUNT_KEY},
    env: {
      LOG_STORE: 'azure',
      AZURE_STORAGE_ACCOUNT: 'account1',
      AZURE_STORAGE_KEY: ACCOUNT_KEY,
      AZURE_STORAGE_CONTAINER: 'bucket',
    },
  },
  'azure by a managed identity': {
    ...bearer(
      'a-token-of-azure',
      /^http:\/\/169\.254\.169\.254\/metadata\/identity\/.*resource=https%3A%2F%2Fstorage\.azure\.com/,
    ),
    env: {
      LOG_STORE: 'azure',
      AZURE_STORAGE_ACCOUNT: 'account1',
      AZURE_STORAGE_CONTAINER: 'bucket',
      AZURE_AUTH_MODE: 'managed',
    },
  },
  'azure as an application': {
    ...bearer('a-token-of-entra', /^https:\/\/login\.microsoftonline\.com\/tenant-1\/oauth2\/v2\.0\/token$/, body =>
      expect(new URLSearchParams(body).get('scope')).toBe('https://storage.azure.com/.default'),
    ),
    env: {
      LOG_STORE: 'azure',
      AZURE_STORAGE_ACCOUNT: 'account1',
      AZURE_STORAGE_CONTAINER: 'bucket',
      AZURE_AUTH_MODE: 'entra',
      AZURE_ENTRA_TENANT_ID: 'tenant-1',
      AZURE_ENTRA_CLIENT_ID: 'client-1',
      AZURE_ENTRA_CLIENT_SECRET: 'a secret of entra',
    },
  },
  'azure by a workload identity': {
    ...bearer('a-token-of-a-pod', /^https:\/\/login\.microsoftonline\.com\/tenant-2\//, body =>
      expect(new URLSearchParams(body).get('client_assertion')).toBe('a token of the cluster'),
    ),
    env: {
      LOG_STORE: 'azure',
      AZURE_STORAGE_ACCOUNT: 'account1',
      AZURE_STORAGE_CONTAINER: 'bucket',
      AZURE_AUTH_MODE: 'workload',
      AZURE_TENANT_ID: 'tenant-2',
      AZURE_CLIENT_ID: 'client-2',
      AZURE_FEDERATED_TOKEN_FILE: tokenFile,
    },
  },
}

async function opened({key, env, fetch}: Kind, more: Record<string, string> = {}): Promise<{twin: Twin; blobs: Blobs}> {
  const twin = await startTwin(key)
  const {settings} = readSettings({env: {LOG_STORE_BASEPATH: `${twin.url}/bucket`, ...env, ...more}})
  const store = openLogStore(settings, Date.now, fetch)!
  onTestFinished(async () => {
    await store.close()
    await twin.close()
  })
  return {twin, blobs: store.blobs}
}

const faultOf = async (asked: Promise<unknown>): Promise<BlobFault> => {
  const fault = await asked.then(
    () => undefined,
    thrown => thrown,
  )
  expect(fault).toBeInstanceOf(BlobFault)
  return fault as BlobFault
}

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  test('puts, gets and removes objects that the store knows the sender of', async () => {
    const {twin, blobs} = await opened(kind)
    await blobs.put(FOUND, OBJECT)
    expect([...twin.objects]).toEqual([[`/bucket/${FOUND}`, OBJECT.body]])
    expect(await blobs.get(FOUND)).toEqual(OBJECT.body)
    expect(await blobs.get('30/none.json')).toBeUndefined()
    await blobs.put(FOUND, {...OBJECT, body: Buffer.from('[]')})
    expect(await blobs.get(FOUND)).toEqual(Buffer.from('[]'))
    await blobs.remove(FOUND)
    await blobs.remove(FOUND)
    expect(twin.objects.size).toBe(0)
    expect(twin.received[0]?.headers['content-type']).toBe('application/json')
  })

  test('tells of a store that refuses, without a secret', async () => {
    const other = {
      s3: {secret: 'another'},
      azure: {key: Buffer.from('another key of an account').toString('base64')},
      bearer: {token: 'another'},
    }
    const {blobs, twin} = await opened({...kind, key: {...kind.key, ...other[kind.key.kind]} as TwinKey})
    for (const asked of [blobs.put(FOUND, OBJECT), blobs.get(FOUND), blobs.remove(FOUND)]) {
      const fault = await faultOf(asked)
      expect(fault.kind).toBe('refused')
      expect(fault.message).toBe(`The log store ${twin.url}/bucket answered 403 (SignatureDoesNotMatch).`)
    }
  })
})

test.each([
  ['GET', '/test.txt', {range: 'bytes=0-9'}, '', 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'],
  [
    'PUT',
    '/test%24file.text',
    {date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY'},
    'Welcome to Amazon S3.',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
] as const)('the twin signs as the S3 API reference does: %s %s', (method, path, more, content, signature) => {
  const body = Buffer.from(content)
  const headers: Record<string, string> = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
    ...more,
  }
  headers.authorization = `SignedHeaders=${Object.keys(headers).sort().join(';')}`
  const key = {
    kind: 's3',
    id: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  } as const
  expect(awsAuthorization({method, path, headers, body}, key)).toContain(`Signature=${signature}`)
})

test('a twin believes nobody whose body or headers changed on their way', async () => {
  const {twin, blobs} = await opened(KINDS.s3!)
  await blobs.put(FOUND, OBJECT)
  const [sent] = twin.received
  expect(isSigned(sent!, S3_KEY)).toBe(true)
  expect(isSigned({...sent!, body: Buffer.from('other')}, S3_KEY)).toBe(false)
  expect(isSigned({...sent!, path: '/bucket/other'}, S3_KEY)).toBe(false)
  expect(isSigned({...sent!, headers: {...sent!.headers, 'x-amz-acl': 'public-read'}}, S3_KEY)).toBe(false)
})

describe('a store that fails', () => {
  test.each([
    [503, 'unreachable', 'answered 503 (SlowDown)'],
    [500, 'unreachable', 'answered 500 (SlowDown)'],
    [429, 'unreachable', 'answered 429 (SlowDown)'],
    [307, 'refused', 'answered 307 (SlowDown)'],
    [413, 'object', 'answered 413 (SlowDown)'],
    ['hangs', 'unreachable', 'could not be asked: it did not answer in time'],
    ['cuts', 'unreachable', 'could not be asked: other side closed'],
  ] as const)('%s', async (mood, kind, said) => {
    const {twin, blobs} = await opened(KINDS.s3!, {LOG_STORE_CONNECTION_TIMEOUT_MS: '300'})
    twin.mood = mood
    const fault = await faultOf(blobs.put(FOUND, OBJECT))
    expect([fault.kind, fault.message]).toEqual([kind, `The log store ${twin.url}/bucket ${said}.`])
    expect(twin.received.map(({path}) => path)).toEqual([
      new URL(`/bucket/${FOUND}`, twin.url).pathname.replace('(1)', '%281%29'),
    ])
  })

  test('is not there', async () => {
    const {twin, blobs} = await opened(KINDS.s3!)
    const {url} = twin
    await twin.down()
    const {kind, message} = await faultOf(blobs.get(FOUND))
    await twin.up()
    expect([kind, message]).toEqual([
      'unreachable',
      `The log store ${url}/bucket could not be asked: the connection was refused.`,
    ])
    expect(await blobs.get(FOUND)).toBeUndefined()
  })

  test('a bucket that is missing is not an object that is missing', async () => {
    for (const kind of [KINDS.s3!, KINDS.azure!]) {
      const twin = await startTwin(kind.key)
      const base = {
        LOG_STORE_BASEPATH: `${twin.url}/other`,
        LOG_STORE_GENERATIONS_BUCKET: '',
        AZURE_STORAGE_CONTAINER: '',
      }
      const store = openLogStore(readSettings({env: {...kind.env, ...base}}).settings, Date.now)!
      expect((await faultOf(store.blobs.get(FOUND))).message).toMatch(
        /answered 404 \((NoSuchBucket|ContainerNotFound)\)/,
      )
      await store.close()
      await twin.close()
    }
  })

  test('a login that does not come about is told, without what it was made of', async () => {
    const {blobs} = await opened({
      ...KINDS['azure as an application']!,
      fetch: async () => ({status: 401, body: '{"error":"invalid_client"}'}),
    })
    const {message} = await faultOf(blobs.get(FOUND))
    expect(message).toMatch(/could not be asked: No token came from Microsoft Entra ID: invalid_client\.$/)
    expect(message).not.toContain('a secret of entra')
  })

  test('no metadata service is a log store', async () => {
    const env = {...KINDS.s3!.env, LOG_STORE_BASEPATH: 'http://169.254.169.254/bucket'}
    const store = openLogStore(readSettings({env}).settings, Date.now)!
    expect((await faultOf(store.blobs.get(FOUND))).message).toMatch(/metadata/)
    await store.close()
  })
})

describe('what S3 is told beside the object', () => {
  const told = async (more: Record<string, string>) => {
    const {twin, blobs} = await opened(KINDS.s3!, more)
    await blobs.put(FOUND, OBJECT)
    await blobs.get(FOUND)
    return twin.received.map(({headers}) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => /server-side|lock|md5/.test(name))),
    )
  }
  const SSE = 'x-amz-server-side-encryption'

  test('nothing', async () => {
    expect(await told({})).toEqual([{}, {}])
  })
  test('a key of the service', async () => {
    expect(await told({SSE_ENCRYPTION_TYPE: 'AES256'})).toEqual([{[SSE]: 'AES256'}, {}])
  })
  test('a key of KMS', async () => {
    const context = '{"of":"logs"}'
    const env = {
      SSE_ENCRYPTION_TYPE: 'aws:kms',
      KMS_KEY_ID: 'key-1',
      KMS_BUCKET_KEY_ENABLED: 'ON',
      KMS_ENCRYPTION_CONTEXT: context,
    }
    expect(await told(env)).toEqual([
      {
        [SSE]: 'aws:kms',
        [`${SSE}-aws-kms-key-id`]: 'key-1',
        [`${SSE}-bucket-key-enabled`]: 'true',
        [`${SSE}-context`]: Buffer.from(context).toString('base64'),
      },
      {},
    ])
  })
  test('a key of the customer, to read as well', async () => {
    const key = Buffer.alloc(32, 5)
    const own = {
      [`${SSE}-customer-algorithm`]: 'AES256',
      [`${SSE}-customer-key`]: key.toString('base64'),
      [`${SSE}-customer-key-md5`]: createHash('md5').update(key).digest('base64'),
    }
    expect(await told({KMS_ENCRYPTION_CUSTOMER_KEY: key.toString('base64')})).toEqual([own, own])
  })
  test('a lock until the end of its time', async () => {
    expect(await told({LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: 'ON'})).toEqual([
      {
        'content-md5': createHash('md5').update(OBJECT.body).digest('base64'),
        'x-amz-object-lock-mode': 'GOVERNANCE',
        'x-amz-object-lock-retain-until-date': '2026-04-03T05:06:07.008Z',
      },
      {},
    ])
  })
})

test('keys are made in two ways', () => {
  const of = {
    log_id: 'log-1',
    organisation_id: 'org-1',
    workspace_slug: 'blue',
    created_at: '2026-03-04T05:06:07.008Z',
    retention_days: 30,
  }
  expect(objectKey('v1', of)).toBe('30/org-1/log-1.json')
  expect(objectKey('v2', of)).toBe('30/org-1/blue/2026/03/04/05/log-1.json')
})

test('a store that fails again and again is left alone for a while, and one success ends it', async () => {
  let now_ms = 0
  let asked = 0
  let is_up = false
  const answer = async () => {
    asked++
    if (!is_up) throw new BlobFault('unreachable', 'It is away.')
    return undefined
  }
  const blobs = withBreaker(
    {place: 'The log store', put: answer, get: answer, remove: answer},
    {threshold: 3, backoff_ms: 60_000, now: () => now_ms},
  )
  for (let n = 0; n < 3; n++) expect((await faultOf(blobs.get('key'))).kind).toBe('unreachable')
  expect(blobs.is_open).toBe(false)
  const paused = await faultOf(blobs.put('key', OBJECT))
  expect([paused.kind, paused.message, asked]).toEqual([
    'paused',
    'The log store failed 3 times in a row and is asked again in 60 s. It is away.',
    3,
  ])
  now_ms = 60_000
  expect((await faultOf(blobs.get('key'))).kind).toBe('unreachable')
  expect([(await faultOf(blobs.get('key'))).kind, asked]).toEqual(['paused', 4])
  now_ms = 120_000
  is_up = true
  await blobs.get('key')
  is_up = false
  for (let n = 0; n < 2; n++) expect((await faultOf(blobs.remove('key'))).kind).toBe('unreachable')
  expect(blobs.is_open).toBe(true)
})
