import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {FLAGS, type FlagName} from '../../src/settings/flags.ts'
import {readSettings, SettingsFault, settingRows} from '../../src/settings/index.ts'
import {CERTIFICATE, disk, faults, POSTGRES, PRIVATE_KEY, read, SEALING_KEY} from './support.ts'

describe('precedence', () => {
  const env = {PORT: '2000', HOST: '10.0.0.2'}
  const files = {'.gateway/settings.yaml': 'port: 3000\nhost: 10.0.0.3\nlog_level: debug\n'}

  test('flags win over the environment, that over the file, that over the default', () => {
    const {settings, origins} = read({argv: {port: '1000'}, env}, files)
    expect(settings).toMatchObject({port: 1000, host: '10.0.0.2', log_level: 'debug', db_port: 5432})
    expect(origins).toMatchObject({
      PORT: 'flag',
      HOST: 'environment',
      LOG_LEVEL: 'file:.gateway/settings.yaml',
      DB_PORT: 'default',
    })
  })

  test('an empty text counts as not given, on every layer', () => {
    const {settings, origins} = read(
      {argv: {port: ''}, env: {PORT: ' ', GUARDRAILS_ENABLED: ''}},
      {'.gateway/settings.yaml': 'port:\nhost: null'},
    )
    expect(settings).toMatchObject({port: 8787, host: '127.0.0.1', guardrails_enabled: true})
    expect(origins).toMatchObject({PORT: 'default', HOST: 'default', GUARDRAILS_ENABLED: 'default'})
  })

  test('the settings file stands in the data directory, wherever that is said to be', () => {
    const settings = 'port: 3000'
    expect(read({env: {GATEWAY_DATA_DIR: '/srv/a'}}, {'/srv/a/settings.yaml': settings}).settings.port).toBe(3000)
    expect(
      read({argv: {'data-dir': '/srv/b'}, env: {GATEWAY_DATA_DIR: '/srv/a'}}, {'/srv/b/settings.yaml': settings})
        .settings.port,
    ).toBe(3000)
  })

  test('a settings file named by flag or variable replaces it, and may name the data directory', () => {
    const all = {...files, '/etc/g.yaml': 'port: 4000\ndata_dir: /srv/g'}
    const {settings, origins} = read({env: {GATEWAY_SETTINGS_FILE: '/etc/g.yaml'}}, all)
    expect(settings).toMatchObject({port: 4000, data_dir: '/srv/g', log_level: 'info', settings_file: '/etc/g.yaml'})
    expect(origins.GATEWAY_DATA_DIR).toBe('file:/etc/g.yaml')
    expect(read({argv: {settings: '/etc/g.yaml'}, env: {GATEWAY_SETTINGS_FILE: '/elsewhere'}}, all).settings.port).toBe(
      4000,
    )
  })

  test('without anything, every default is read', () => {
    const {settings, origins} = read({})
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      data_dir: './.gateway',
      database_url: undefined,
      db_ssl: 'DISABLED',
      db_pool_size: 12,
      upstream_connect_timeout_ms: 10_000,
      upstream_first_byte_timeout_ms: 600_000,
      upstream_idle_timeout_ms: 300_000,
      request_timeout: undefined,
      client_write_timeout_ms: 60_000,
      max_json_payload_size_in_mb: 64,
      stream_usage: 'auto',
      trusted_custom_hosts: [],
      enable_cors: false,
      enable_prometheus: true,
      log_retention_days: 90,
      log_body_retention_days: 30,
      metrics_retention_days: 365,
      log_body_max_bytes: 262_144,
      drain_timeout_ms: 30_000,
    })
    expect(new Set(Object.values(origins))).toEqual(new Set(['default']))
    expect(Object.isFrozen(settings)).toBe(true)
  })
})

describe('names that are no settings', () => {
  test.each([
    ['GATEWAY_DATADIR', 'GATEWAY_DATADIR is not a setting. The nearest is GATEWAY_DATA_DIR.'],
    ['GATEWAY_PORT', 'GATEWAY_PORT is not a setting. The nearest is PORT.'],
    ['GATEWAY_SEALING_KEY_PATH', 'GATEWAY_SEALING_KEY_PATH is not a setting. The nearest is GATEWAY_SEALING_KEY_FILE.'],
    ['GATEWAY_FOO', 'GATEWAY_FOO is not a setting. All are listed by: gateway config show.'],
  ])('the environment name %s', (name, sentence) => {
    expect(faults({env: {[name]: 'hush'}})).toEqual([sentence])
  })

  test.each([
    ['pord', '--pord is not a setting. The nearest is --port.'],
    [
      'db-pass',
      '--db-pass is not a setting. A command line is seen by others, so it is given as --db-pass-file or DB_PASS.',
    ],
    ['xyzzy', '--xyzzy is not a setting. All are listed by: gateway config show.'],
  ])('the flag %s', (flag, sentence) => {
    expect(faults({argv: {[flag]: 'hush'}})).toEqual([sentence])
  })

  test.each([
    ['prot: 1', 'prot in .gateway/settings.yaml is not a setting. The nearest is port.'],
    ['PORT: 1', 'PORT in .gateway/settings.yaml is not a setting. The nearest is port.'],
    ['gateway_data_dir: x', 'gateway_data_dir in .gateway/settings.yaml is not a setting. The nearest is data_dir.'],
    ['url: http://x', 'url in .gateway/settings.yaml is not a setting. It is given as --url or GATEWAY_URL.'],
    [
      'api_key: hush',
      'api_key in .gateway/settings.yaml is not a setting. It is given as --api-key-file or GATEWAY_API_KEY.',
    ],
    [
      'mongo_database: x',
      'mongo_database in .gateway/settings.yaml is not available in this version (MongoDB as the log store). ' +
        'Unset it; LOG_STORE names a store of objects, or local.',
    ],
  ])('the key in the file: %s', (yaml, sentence) => {
    expect(faults({}, {'.gateway/settings.yaml': yaml})).toEqual([sentence])
  })

  test('names of others in the environment are none of our business', () => {
    expect(read({env: {PATH: '/bin', HOME: '/root', PROT: '1', gateway_x: '1'}}).settings.port).toBe(8787)
  })

  test('what Kubernetes puts there for services called gateway, gateway-admin, redis and db is passed over', () => {
    const env = {
      GATEWAY_SERVICE_HOST: '10.0.0.5',
      GATEWAY_SERVICE_PORT: '8787',
      GATEWAY_SERVICE_PORT_HTTP: '8787',
      GATEWAY_PORT: 'tcp://10.0.0.5:8787',
      GATEWAY_PORT_8787_TCP: 'tcp://10.0.0.5:8787',
      GATEWAY_PORT_8787_TCP_ADDR: '10.0.0.5',
      GATEWAY_ADMIN_SERVICE_HOST: '10.0.0.6',
      REDIS_PORT: 'tcp://10.0.0.7:6379',
      DB_PORT: 'tcp://10.0.0.8:5432',
    }
    expect(read({env}).origins).toEqual(read({}).origins)
  })
})

describe('values', () => {
  test.each([
    ['PORT', 'abc', 'PORT is "abc"; it takes a whole number from 0 to 65535.'],
    ['PORT', '65536', 'PORT is "65536"; it takes a whole number from 0 to 65535.'],
    ['PORT', '8e3', 'PORT is "8e3"; it takes a whole number from 0 to 65535.'],
    ['HOST', 'http://x', 'HOST is "http://x"; it takes an IP address or a host name, without port.'],
    ['REQUEST_TIMEOUT', '0', 'REQUEST_TIMEOUT is "0"; it takes a whole number of milliseconds from 1 to 2147483647.'],
    ['STREAM_USAGE', 'Auto', 'STREAM_USAGE is "Auto"; it takes auto, exact or metered.'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL is "loud"; it takes trace, debug, info, warn, error, fatal or silent.'],
    ['ENABLE_PROMETHEUS', 'yes', 'ENABLE_PROMETHEUS is "yes"; it takes true or false.'],
    [
      'DB_SSL',
      'verify_ca',
      'DB_SSL is "verify_ca"; it takes DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY or Amazon RDS.',
    ],
    [
      'GATEWAY_URL',
      'gateway.example.com',
      'GATEWAY_URL is "gateway.example.com"; it takes a URL such as https://gateway.example.com.',
    ],
    ['GATEWAY_URL', 'http://u:hush@h', 'GATEWAY_URL is "http://***@h"; it may not carry a user or a password.'],
    ['SERVICE_NAME', 'a\nb', 'SERVICE_NAME is "a\\nb"; it takes one line of at most 4096 characters.'],
  ])('%s=%j is refused', (name, value, sentence) => {
    expect(faults({env: {[name]: value}})).toEqual([sentence])
  })

  test('a flag, a variable and a key are named as they were given', () => {
    const files = {'.gateway/settings.yaml': 'log_level: loud\nport: [1, 2]'}
    expect(faults({argv: {host: 'a b'}, env: {DRAIN_TIMEOUT_MS: '-1'}}, files)).toEqual([
      '--host is "a b"; it takes an IP address or a host name, without port.',
      'port in .gateway/settings.yaml is a list; it takes a whole number from 0 to 65535.',
      'DRAIN_TIMEOUT_MS is "-1"; it takes a whole number of milliseconds from 1 to 2147483647.',
      'log_level in .gateway/settings.yaml is "loud"; it takes trace, debug, info, warn, error, fatal or silent.',
    ])
  })

  test('a long value is cut in the sentence', () => {
    expect(faults({env: {LOG_LEVEL: 'x'.repeat(100_000)}})[0]!.length).toBeLessThan(250)
  })

  test('trusted hosts are hosts, domains, addresses, ranges and URLs, in one form each', () => {
    const list = ' LocalHost, *.Example.com ,10.0.0.0/8,[::1],fd00::/8,http://Ollama:11434/v1,localhost '
    expect(read({env: {TRUSTED_CUSTOM_HOSTS: list}}).settings.trusted_custom_hosts).toEqual([
      'localhost',
      '*.example.com',
      '10.0.0.0/8',
      '::1',
      'fd00::/8',
      'ollama',
    ])
  })

  test.each([
    '*',
    'localhost:11434',
    '10.0.0.0/33',
    '999.1.1.1',
    '0x7f000001',
    'ftp://x',
    'http://a:b@c',
    'a b',
    '*.',
    'http://',
  ])('a trusted host cannot be %s', entry => {
    expect(faults({env: {TRUSTED_CUSTOM_HOSTS: `fine.example.com,${entry}`}})[0]).toContain('without ports')
  })

  test('lists of headers are lower-case, of methods upper-case, of origins without a path', () => {
    const env = {
      ENABLE_CORS: 'true',
      CORS_ALLOWED_ORIGINS: 'https://App.example.com/,http://localhost:3000',
      CORS_ALLOWED_METHODS: 'get,POST',
      HEADERS_TO_METADATA: 'X-Team, X-Team,x-user',
    }
    expect(read({env}).settings).toMatchObject({
      cors_allowed_origins: ['https://app.example.com', 'http://localhost:3000'],
      cors_allowed_methods: ['GET', 'POST'],
      cors_allowed_headers: ['*'],
      headers_to_metadata: ['x-team', 'x-user'],
    })
    expect(faults({env: {CORS_ALLOWED_ORIGINS: 'app.example.com'}})[0]).toContain(
      '"app.example.com" is none of: origins',
    )
    expect(faults({env: {CUSTOM_HEADERS_TO_IGNORE: 'x y'}})[0]).toContain('"x y" is none of: header names')
  })

  test('the conventional lower-case names of proxies are read, and may repeat the upper-case ones', () => {
    const {settings, origins} = read({
      env: {https_proxy: 'http://proxy:3128', HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'localhost,.corp,10.0.0.0/8'},
    })
    expect(settings).toMatchObject({https_proxy: 'http://proxy:3128', no_proxy: ['localhost', '.corp', '10.0.0.0/8']})
    expect(origins.NO_PROXY).toBe('environment')
    expect(faults({env: {https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1'}})).toEqual([
      'HTTPS_PROXY and https_proxy are both set; keep one.',
    ])
    expect(faults({env: {HTTP_PROXY: 'proxy:3128'}})).toEqual([
      'HTTP_PROXY is not usable; it takes a URL such as http://proxy.example.com:3128.',
    ])
  })

  test('the sealing key is 32 bytes in hex or base64', () => {
    const key = Buffer.from(SEALING_KEY, 'hex')
    for (const said of [
      SEALING_KEY,
      SEALING_KEY.toUpperCase(),
      key.toString('base64'),
      key.toString('base64url'),
      `${SEALING_KEY}\n`,
    ]) {
      expect(read({env: {GATEWAY_SEALING_KEY: said}}).settings.sealing_key).toEqual(key)
    }
    for (const said of [
      SEALING_KEY.slice(2),
      'ab',
      Buffer.alloc(31).toString('base64'),
      Buffer.alloc(33).toString('base64'),
    ]) {
      expect(faults({env: {GATEWAY_SEALING_KEY: said}})[0]).toMatch(
        /^GATEWAY_SEALING_KEY is not usable; it takes 32 bytes/,
      )
    }
  })

  test('bootstrap keys have at least 32 visible characters and differ', () => {
    const key = 'k'.repeat(32)
    expect(read({env: {GATEWAY_BOOTSTRAP_ADMIN_KEY: key}}).settings.bootstrap_admin_key).toBe(key)
    expect(faults({env: {GATEWAY_BOOTSTRAP_ADMIN_KEY: key.slice(1)}})[0]).toMatch(/at least 32/)
    expect(faults({env: {GATEWAY_BOOTSTRAP_WORKSPACE_KEY: `${key} x`}})[0]).toMatch(/without spaces/)
    expect(faults({env: {GATEWAY_BOOTSTRAP_ADMIN_KEY: key, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: key}})).toEqual([
      'GATEWAY_BOOTSTRAP_ADMIN_KEY and GATEWAY_BOOTSTRAP_WORKSPACE_KEY must differ.',
    ])
  })

  test('any text for any variable is read or refused with sentences, never thrown otherwise', () => {
    const names = fc.constantFrom(...settingRows(read({})).map(({name}) => name))
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.oneof(fc.string({unit: 'binary'}), fc.webUrl(), fc.ipV6(), fc.nat().map(String))),
        env => {
          try {
            readSettings({env, readFile: disk({})})
          } catch (error) {
            if (!(error instanceof SettingsFault) || error.sentences.length === 0) throw error
          }
        },
      ),
    )
  })
})

describe('feature flags', () => {
  const flags = Object.keys(FLAGS) as FlagName[]

  test.each(flags)('%s is on by default and with ON, off with OFF alone', flag => {
    const {env} = FLAGS[flag]
    expect(read({}).settings[`${flag}_enabled`]).toBe(true)
    expect(read({env: {[env]: 'ON'}}).settings[`${flag}_enabled`]).toBe(true)
    expect(read({env: {[env]: 'OFF'}}).settings[`${flag}_enabled`]).toBe(false)
    for (const word of ['off', 'false', '0', 'no', 'on', 'OFFF', 'toString']) {
      expect(faults({env: {[env]: word}})).toEqual([`${env} is "${word}"; it takes ON or OFF.`])
    }
  })

  test('in the file a flag is the same word', () => {
    expect(read({}, {'.gateway/settings.yaml': 'scim_enabled: OFF'}).settings.scim_enabled).toBe(false)
    expect(faults({}, {'.gateway/settings.yaml': 'scim_enabled: false'})[0]).toContain('it takes ON or OFF')
  })
})

describe('the database', () => {
  test.each(['DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY'])('DB_SSL=%s is read', mode => {
    expect(read({env: {...POSTGRES, DB_SSL: mode}}).settings.db_ssl).toBe(mode)
  })

  test('the bundle mode needs the bundle', () => {
    const env = {...POSTGRES, DB_SSL: 'Amazon RDS'}
    expect(faults({env})).toEqual([
      "DB_SSL=Amazon RDS needs the vendor's certificate bundle in DB_SSL_CA_FILE; none comes with this version.",
    ])
    expect(read({env: {...env, DB_SSL_CA: CERTIFICATE}}).settings).toMatchObject({
      db_ssl: 'Amazon RDS',
      db_ssl_ca: CERTIFICATE.trim(),
    })
  })

  test.each([
    [
      {DB_SSL: 'REQUIRED', DB_SSL_CA: CERTIFICATE},
      'DB_SSL_CA would have no effect with DB_SSL=REQUIRED; it is used by VERIFY_CA, VERIFY_IDENTITY and Amazon RDS.',
    ],
    [{DB_SSL: 'VERIFY_CA', DB_SSL_CERT: CERTIFICATE}, 'DB_SSL_CERT needs DB_SSL_KEY as well.'],
    [{DB_SSL: 'VERIFY_CA', DB_SSL_KEY: PRIVATE_KEY}, 'DB_SSL_KEY needs DB_SSL_CERT as well.'],
    [{DB_SSL_CERT: CERTIFICATE, DB_SSL_KEY: PRIVATE_KEY}, 'DB_SSL_CERT would have no effect with DB_SSL=DISABLED.'],
    [{DB_HOST: 'h'}, 'DATABASE_URL and DB_HOST are both set; keep the URL or the parts.'],
    [
      {GATEWAY_SEALING_KEY: ''},
      'GATEWAY_SEALING_KEY is required with a PostgreSQL database: several processes must share the key that seals credentials.',
    ],
    [
      {DATABASE_URL: 'mysql://u:hush@h/d'},
      'DATABASE_URL is not usable; MySQL is not supported: the gateway keeps its data in SQLite or PostgreSQL.',
    ],
    [
      {DATABASE_URL: 'postgres://u:hush@h/d?sslmode=require'},
      'DATABASE_URL is not usable; take the parameter sslmode out of it and set DB_SSL=REQUIRED instead.',
    ],
    [
      {DATABASE_URL: 'hush'},
      'DATABASE_URL is not usable; it takes a URL such as postgresql://user:password@host:5432/name.',
    ],
  ])('%o is refused', (env, sentence) => {
    expect(faults({env: {...POSTGRES, ...env}})).toEqual([sentence])
  })

  test.each([
    [{DB_HOST: 'h', GATEWAY_SEALING_KEY: SEALING_KEY}, 'DB_HOST needs DB_USER and DB_NAME as well.'],
    [
      {DB_USER: 'u', DB_PASS: 'hush'},
      'DB_USER, DB_PASS would have no effect without DB_HOST; set it, or use DATABASE_URL.',
    ],
    [{DB_SSL: 'REQUIRED'}, 'DB_SSL=REQUIRED would have no effect without DATABASE_URL or DB_HOST.'],
  ])('without a URL, %o is refused', (env, sentence) => {
    expect(faults({env})).toEqual([sentence])
  })
})

describe('the listener and browsers', () => {
  test.each([
    [{TLS_CERT: CERTIFICATE}, 'TLS_CERT needs TLS_KEY as well.'],
    [{TLS_CA: CERTIFICATE}, 'TLS_CA would have no effect without TLS_CERT and TLS_KEY.'],
    [
      {TLS_CERT: '/etc/cert.pem', TLS_KEY: PRIVATE_KEY},
      'TLS_CERT is not usable; it takes one or more certificates in PEM form, not a path.',
    ],
    [
      {TLS_CERT: CERTIFICATE, TLS_KEY: CERTIFICATE},
      'TLS_KEY is not usable; it takes a private key in PEM form, not a path.',
    ],
    [
      {VECTOR_STORE_ADDRESS: 'http://q:6333', VECTOR_STORE_API_KEY: 'hush'},
      'VECTOR_STORE_ADDRESS, VECTOR_STORE_API_KEY would have no effect without VECTOR_STORE, the product.',
    ],
    [{VECTOR_STORE: 'qdrant'}, 'VECTOR_STORE=qdrant needs VECTOR_STORE_ADDRESS as well.'],
    [
      {VECTOR_STORE: 'chroma', VECTOR_STORE_ADDRESS: 'http://q:6333'},
      'VECTOR_STORE is "chroma"; it takes milvus, pinecone or qdrant.',
    ],
    [
      {VECTOR_STORE: 'milvus', VECTOR_STORE_ADDRESS: 'milvus:19530'},
      'VECTOR_STORE_ADDRESS is not usable; VECTOR_STORE=milvus takes a URL such as http://vectors.internal:6333, ' +
        'without a query.',
    ],
    [
      {VECTOR_STORE: 'qdrant', VECTOR_STORE_ADDRESS: 'http://user:hush@q:6333'},
      'VECTOR_STORE_ADDRESS is not usable; VECTOR_STORE=qdrant takes a URL such as http://vectors.internal:6333, ' +
        'without a query.',
    ],
    [
      {VECTOR_STORE: 'pinecone', VECTOR_STORE_ADDRESS: 'semantic'},
      'VECTOR_STORE=pinecone needs VECTOR_STORE_API_KEY as well.',
    ],
    [
      {VECTOR_STORE: 'milvus', VECTOR_STORE_ADDRESS: 'http://m:19530', VECTOR_STORE_COLLECTION_NAME: 'a-b'},
      'VECTOR_STORE_COLLECTION_NAME may have no hyphen with VECTOR_STORE=milvus.',
    ],
    [
      {VECTOR_STORE: 'qdrant', VECTOR_STORE_ADDRESS: 'http://q:6333', SEMANTIC_CACHE_EMBEDDER: 'none'},
      'VECTOR_STORE would have no effect with SEMANTIC_CACHE_EMBEDDER=none: there are no vectors.',
    ],
    [{ENABLE_CORS: 'true'}, 'ENABLE_CORS=true needs CORS_ALLOWED_ORIGINS: the origins that may call, or * for any.'],
  ])('%o is refused', (env, sentence) => {
    expect(faults({env})).toEqual([sentence])
  })

  test('a certificate may be written on one line with \\n', () => {
    const env = {TLS_CERT: CERTIFICATE.replaceAll('\n', '\\n'), TLS_KEY: PRIVATE_KEY}
    expect(read({env}).settings.tls_cert).toBe(CERTIFICATE)
  })
})

describe('documented variables of later versions', () => {
  test.each([
    [
      'MONGO_DATABASE',
      'logs',
      'MONGO_DATABASE is not available in this version (MongoDB as the log store). ' +
        'Unset it; LOG_STORE names a store of objects, or local.',
    ],
    [
      'GATEWAY_BASE_URL',
      'http://x',
      'GATEWAY_BASE_URL is not available in this version (a separate control plane). Unset it; one process is gateway and control plane.',
    ],
    [
      'DB_READER_HOST',
      'x',
      'DB_READER_HOST is not available in this version (a reading replica of the database). Unset it.',
    ],
    [
      'NODE_TLS_REJECT_UNAUTHORIZED',
      '0',
      'NODE_TLS_REJECT_UNAUTHORIZED is not available in this version (connections without certificate checks). Unset it or set it to 1; NODE_EXTRA_CA_CERTS adds a private authority.',
    ],
  ])('%s=%s refuses to start', (name, value, sentence) => {
    expect(faults({env: {[name]: value}})).toEqual([sentence])
  })

  test('set to what they are by default, or to nothing, they may stand', () => {
    const env = {
      GRPC_PORT: '8789',
      LOG_STORE: 'control_plane',
      CACHE_STORE: 'redis',
      MONGO_DATABASE: '',
      GATEWAY_CACHE_MODE: 'SELF',
    }
    expect(read({env}).settings).toEqual(read({}).settings)
  })
})
