import {inspect} from 'node:util'
import {expect, test} from 'vitest'
import {databaseSettings, settingRows} from '../../src/settings/index.ts'
import {CERTIFICATE, faults, POSTGRES, PRIVATE_KEY, read, SEALING_KEY} from './support.ts'

const KEY = 'hush-0123456789-0123456789-0123456789'

test('a secret comes from the file that NAME_FILE names, without the line end after it', () => {
  const {settings, origins} = read({env: {GATEWAY_API_KEY_FILE: '/run/secrets/key'}}, {'/run/secrets/key': `${KEY}\n`})
  expect(settings.api_key).toBe(KEY)
  expect(origins.GATEWAY_API_KEY).toBe('environment')
})

test('a flag and the settings file may name the file, too, and a flag wins over the value in the environment', () => {
  const files = {'/a': `${KEY}-a`, '/b': `${KEY}-b`, '.gateway/settings.yaml': 'bootstrap_admin_key_file: /b'}
  expect(read({}, files).settings.bootstrap_admin_key).toBe(`${KEY}-b`)
  const env = {GATEWAY_BOOTSTRAP_ADMIN_KEY: KEY}
  expect(read({env}, files).settings.bootstrap_admin_key).toBe(KEY)
  expect(read({argv: {'bootstrap-admin-key-file': '/a'}, env}, files).settings.bootstrap_admin_key).toBe(`${KEY}-a`)
})

test('certificates and private keys come from NAME_PATH as well', () => {
  const env = {TLS_KEY_PATH: '/key', TLS_CERT_FILE: '/cert', TLS_CA_PATH: '/cert'}
  const {settings} = read({env}, {'/key': `${PRIVATE_KEY}\n`, '/cert': `${CERTIFICATE}\n${CERTIFICATE}\n`})
  expect(settings).toMatchObject({tls_key: PRIVATE_KEY, tls_cert: `${CERTIFICATE}\n${CERTIFICATE}`})
})

test('a password keeps its spaces and loses only the line end', () => {
  const env = {DB_HOST: 'h', DB_USER: 'u', DB_NAME: 'd', GATEWAY_SEALING_KEY: SEALING_KEY}
  expect(read({env: {...env, DB_PASS: ' pass '}}).settings.db_pass).toBe(' pass ')
  expect(read({env: {...env, DB_PASS_FILE: '/p'}}, {'/p': ' pass \r\n'}).settings.db_pass).toBe(' pass ')
  expect(faults({env: {...env, DB_PASS_FILE: '/p'}}, {'/p': 'hush\nhush'})).toEqual([
    'DB_PASS_FILE is not usable; it takes one line of at most 4096 characters.',
  ])
})

test.each([
  [
    {GATEWAY_API_KEY: KEY, GATEWAY_API_KEY_FILE: '/k'},
    'GATEWAY_API_KEY and GATEWAY_API_KEY_FILE are both set; keep one.',
  ],
  [{TLS_KEY_FILE: '/k', TLS_KEY_PATH: '/k'}, 'TLS_KEY_FILE and TLS_KEY_PATH are both set; keep one.'],
  [{GATEWAY_API_KEY_FILE: '/none'}, 'GATEWAY_API_KEY_FILE names "/none", which cannot be read: there is no such file.'],
  [
    {GATEWAY_API_KEY_FILE: '/closed'},
    'GATEWAY_API_KEY_FILE names "/closed", which cannot be read: this process may not read it.',
  ],
  [{GATEWAY_API_KEY_FILE: '/folder'}, 'GATEWAY_API_KEY_FILE names "/folder", which cannot be read: it is a directory.'],
  [
    {GATEWAY_API_KEY_FILE: '/endless'},
    'GATEWAY_API_KEY_FILE names "/endless", which cannot be read: it is larger than 1 MiB.',
  ],
  [{GATEWAY_API_KEY_FILE: '/empty'}, 'GATEWAY_API_KEY_FILE names "/empty", which is empty.'],
  [{TLS_KEY_FILE: PRIVATE_KEY}, 'TLS_KEY_FILE is several lines; it takes the path of a file.'],
  [
    {DATABASE_URL_FILE: POSTGRES.DATABASE_URL},
    'DATABASE_URL_FILE names "postgresql://***@db.example.com:5432/gateway", which cannot be read: there is no such file.',
  ],
])('%o is refused, the secret unsaid', (env, sentence) => {
  const files = {'/k': KEY, '/closed': '!EACCES', '/folder': '!EISDIR', '/endless': '!EFBIG', '/empty': ' \n'}
  expect(faults({env}, files)).toContain(sentence)
})

test('the path of a secret is never guessed from its value', () => {
  expect(read({env: {GATEWAY_API_KEY: '/run/secrets/key'}}, {'/run/secrets/key': KEY}).settings.api_key).toBe(
    '/run/secrets/key',
  )
})

test('neither the rows nor the settings themselves show a secret', () => {
  const env = {
    ...POSTGRES,
    GATEWAY_API_KEY: KEY,
    HTTPS_PROXY: 'http://u:hush@proxy:1',
    TLS_KEY: PRIVATE_KEY,
    TLS_CERT: CERTIFICATE,
  }
  const found = read({env})
  for (const text of [
    JSON.stringify(settingRows(found)),
    JSON.stringify(found),
    inspect(found, {depth: 9}),
    `${found.settings}`,
  ]) {
    expect(text).not.toMatch(/hush|ababab|171, 171|ab ab/)
  }
  const rows = settingRows(found)
  expect(rows.find(({name}) => name === 'GATEWAY_API_KEY')).toMatchObject({value: 'set', origin: 'environment'})
  expect(rows.find(({name}) => name === 'REDIS_URL')).toMatchObject({value: 'not set', origin: 'default'})
})

test('the database settings hand on what the driver needs', () => {
  const parts = {
    DB_HOST: 'h',
    DB_PORT: '6000',
    DB_USER: 'u',
    DB_PASS: 'p',
    DB_NAME: 'd',
    GATEWAY_SEALING_KEY: SEALING_KEY,
    DB_SSL: 'VERIFY_CA',
    DB_SSL_CA: CERTIFICATE,
  }
  expect(databaseSettings(read({}).settings)).toBeUndefined()
  expect(databaseSettings(read({env: POSTGRES}).settings)).toEqual({
    connection: {connectionString: POSTGRES.DATABASE_URL},
    ssl: {mode: 'DISABLED'},
    pool_size: 12,
    query_timeout_ms: 5000,
  })
  expect(databaseSettings(read({env: parts}).settings)).toEqual({
    connection: {host: 'h', port: 6000, user: 'u', password: 'p', database: 'd'},
    ssl: {mode: 'VERIFY_CA', ca: CERTIFICATE},
    pool_size: 12,
    query_timeout_ms: 5000,
  })
})
