import {expect, test} from 'vitest'
import {logStoreSettings} from '../../src/settings/index.ts'
import {faults, read} from './support.ts'

const KEYS = {LOG_STORE_ACCESS_KEY: 'AKID', LOG_STORE_SECRET_KEY: 'secret'}
const S3 = {LOG_STORE: 's3', LOG_STORE_REGION: 'eu-west-1', LOG_STORE_GENERATIONS_BUCKET: 'logs', ...KEYS}
const AZURE = {LOG_STORE: 'azure', AZURE_STORAGE_ACCOUNT: 'acc', AZURE_STORAGE_CONTAINER: 'logs'}
const ACCOUNT_KEY = Buffer.alloc(64, 1).toString('base64')

test.each<[string, Record<string, string>, string[]]>([
  ['a bucket', {...S3, LOG_STORE_GENERATIONS_BUCKET: ''}, ['LOG_STORE=s3 needs LOG_STORE_GENERATIONS_BUCKET as well.']],
  ['a region', {...S3, LOG_STORE_REGION: ''}, ['LOG_STORE=s3 needs LOG_STORE_REGION as well.']],
  [
    'everything',
    {LOG_STORE: 's3'},
    [
      'LOG_STORE=s3 needs LOG_STORE_GENERATIONS_BUCKET, LOG_STORE_REGION, LOG_STORE_ACCESS_KEY, LOG_STORE_SECRET_KEY as well.',
    ],
  ],
  ['an address', {LOG_STORE: 's3_custom', ...KEYS}, ['LOG_STORE=s3_custom needs LOG_STORE_BASEPATH as well.']],
  [
    'a bucket to become a role for',
    {LOG_STORE: 's3_assume'},
    ['LOG_STORE=s3_assume needs LOG_STORE_GENERATIONS_BUCKET, LOG_STORE_REGION as well.'],
  ],
  [
    'the other half of a key',
    {
      LOG_STORE: 's3_assume',
      LOG_STORE_REGION: 'eu-west-1',
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
      LOG_STORE_ACCESS_KEY: 'AKID',
    },
    ['LOG_STORE_ACCESS_KEY needs LOG_STORE_SECRET_KEY as well.'],
  ],
  [
    'a bucket of Cloud Storage',
    {LOG_STORE: 'gcs_assume'},
    ['LOG_STORE=gcs_assume needs LOG_STORE_GENERATIONS_BUCKET as well.'],
  ],
  ['a key or a login', AZURE, ['LOG_STORE=azure needs AZURE_STORAGE_KEY, or AZURE_AUTH_MODE for a login without one.']],
])('refuses a log store that lacks %s', (_, env, sentences) => {
  expect(faults({env})).toEqual(sentences)
})

test.each<[Record<string, string>, string[]]>([
  [{LOG_STORE_GENERATIONS_BUCKET: 'logs'}, ['LOG_STORE_GENERATIONS_BUCKET would have no effect with LOG_STORE=local.']],
  [{LOG_STORE_FILE_PATH_FORMAT: 'v2'}, ['LOG_STORE_FILE_PATH_FORMAT would have no effect with LOG_STORE=local.']],
  [
    {LOG_STORE: 'control_plane', LOG_STORE_FILE_PATH_FORMAT: 'v2'},
    ['LOG_STORE_FILE_PATH_FORMAT would have no effect with LOG_STORE=local.'],
  ],
  [{...S3, AZURE_STORAGE_KEY: ACCOUNT_KEY}, ['AZURE_STORAGE_KEY would have no effect with LOG_STORE=s3.']],
  [{...S3, LOG_STORE_AWS_ROLE_ARN: 'arn'}, ['LOG_STORE_AWS_ROLE_ARN would have no effect with LOG_STORE=s3.']],
  [
    {LOG_STORE: 'gcs', LOG_STORE_GENERATIONS_BUCKET: 'logs', ...KEYS, SSE_ENCRYPTION_TYPE: 'AES256'},
    ['SSE_ENCRYPTION_TYPE would have no effect with LOG_STORE=gcs.'],
  ],
  [
    {...S3, KMS_KEY_ID: 'key'},
    ['KMS_KEY_ID would have no effect without SSE_ENCRYPTION_TYPE=aws:kms or aws:kms:dsse.'],
  ],
  [
    {...S3, SSE_ENCRYPTION_TYPE: 'AES256', KMS_ENCRYPTION_CUSTOMER_KEY: Buffer.alloc(32).toString('base64')},
    ['KMS_ENCRYPTION_CUSTOMER_KEY and SSE_ENCRYPTION_TYPE=AES256 are two ways to encrypt; keep one.'],
  ],
  [
    {...S3, KMS_ENCRYPTION_ALGORITHM: 'AES256'},
    ['KMS_ENCRYPTION_ALGORITHM would have no effect without KMS_ENCRYPTION_CUSTOMER_KEY.'],
  ],
  [
    {
      LOG_STORE: 's3_assume',
      LOG_STORE_REGION: 'r-1',
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
      LOG_STORE_AWS_EXTERNAL_ID: 'x',
    },
    ['LOG_STORE_AWS_EXTERNAL_ID would have no effect without LOG_STORE_AWS_ROLE_ARN.'],
  ],
  [
    {LOG_STORE: 'gcs_assume', LOG_STORE_BASEPATH: 'http://storage.lan/logs'},
    ['LOG_STORE_BASEPATH must begin with https:// with LOG_STORE=gcs_assume: a token would be sent in the clear.'],
  ],
  [
    {...S3, LOG_STORE_BASEPATH: 'https://u:p@host/logs'},
    [
      'LOG_STORE_BASEPATH is "https://***@host/logs"; it takes an address such as minio.example.com/bucket or https://bucket.s3.example.com, without a query.',
    ],
  ],
  [
    {LOG_STORE: 'mongo'},
    ['LOG_STORE is "mongo"; it takes local, control_plane, s3, s3_custom, s3_assume, gcs, gcs_assume or azure.'],
  ],
  [
    {MONGO_DATABASE: 'logs'},
    [
      'MONGO_DATABASE is not available in this version (MongoDB as the log store). Unset it; LOG_STORE names a store of objects, or local.',
    ],
  ],
])('refuses %o', (env, sentences) => {
  expect(faults({env})).toEqual(sentences)
})

test.each<[Record<string, string>, string]>([
  [S3, 'https://s3.eu-west-1.amazonaws.com/logs'],
  [{...S3, AWS_ENDPOINT_DOMAIN: 'amazonaws.com.cn'}, 'https://s3.eu-west-1.amazonaws.com.cn/logs'],
  [
    {...S3, LOG_STORE_BASEPATH: 'vpce-1.s3.eu-west-1.vpce.amazonaws.com'},
    'https://vpce-1.s3.eu-west-1.vpce.amazonaws.com/logs',
  ],
  [{LOG_STORE: 's3_custom', ...KEYS, LOG_STORE_BASEPATH: 'minio.lan:9000/logs/'}, 'https://minio.lan:9000/logs'],
  [
    {LOG_STORE: 's3_custom', ...KEYS, LOG_STORE_BASEPATH: 'http://minio/a/logs', LOG_STORE_GENERATIONS_BUCKET: 'logs'},
    'http://minio/a/logs',
  ],
  [
    {LOG_STORE: 's3_custom', ...KEYS, LOG_STORE_BASEPATH: 'http://minio:9000', LOG_STORE_GENERATIONS_BUCKET: 'logs'},
    'http://minio:9000/logs',
  ],
  [
    {
      LOG_STORE: 's3_custom',
      ...KEYS,
      LOG_STORE_BASEPATH: 'https://logs.store.example.com',
      LOG_STORE_GENERATIONS_BUCKET: 'logs',
    },
    'https://logs.store.example.com',
  ],
  [{LOG_STORE: 'gcs', LOG_STORE_GENERATIONS_BUCKET: 'logs', ...KEYS}, 'https://storage.googleapis.com/logs'],
  [{...AZURE, AZURE_STORAGE_KEY: ACCOUNT_KEY}, 'https://acc.blob.core.windows.net/logs'],
  [
    {...AZURE, AZURE_STORAGE_KEY: ACCOUNT_KEY, LOG_STORE_BASEPATH: 'https://acc.blob.core.usgovcloudapi.net'},
    'https://acc.blob.core.usgovcloudapi.net/logs',
  ],
])('%o is a store at %s', (env, base_url) => {
  expect(logStoreSettings(read({env}).settings)).toMatchObject({
    base_url,
    timeout_ms: 15_000,
    failure_threshold: 5,
    backoff_ms: 60_000,
  })
})

test('bodies stay with the log where nothing is said', () => {
  expect(logStoreSettings(read({}).settings)).toBeUndefined()
  expect(logStoreSettings(read({env: {LOG_STORE: 'control_plane'}}).settings)).toBeUndefined()
})
