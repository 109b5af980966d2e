import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {eventFrame} from '../providers/bedrock/frames.ts'
import {type Reply, stream, whole} from './provider.ts'
import type {Row, RowAsk} from './scene.ts'

type Json = Record<string, unknown>

/** The provider of a folder of `test/fixtures`, where it has another name; null: no folder of replies. */
const PROVIDERS: Readonly<Record<string, string | null>> = {
  gemini: 'google',
  mistral: 'mistral-ai',
  reka: 'reka-ai',
  together: 'together-ai',
  ...Object.fromEntries(
    ['clients', 'configs', 'pii', 'sigv4', 'suites', 'fireworks', 'engines', 'messages', 'responses'].map(name => [
      name,
      null,
    ]),
  ),
}
/** What a provider cannot be asked without. */
const OPTIONS: Readonly<Record<string, Json>> = {
  bedrock: {
    aws_auth_type: 'accessKey',
    aws_access_key_id: 'AKIDEXAMPLE',
    aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    aws_region: 'us-east-1',
  },
  cortex: {snowflake_account: 'org-account'},
  oracle: {
    oracle_region: 'us-chicago-1',
    oracle_tenancy: 'ocid1.tenancy.oc1..t',
    oracle_user: 'ocid1.user.oc1..u',
    oracle_fingerprint: '20:3b:97:13',
    oracle_private_key: readFileSync(join(import.meta.dirname, 'oracle.key.pem'), 'utf8').replaceAll('\n', '\\n'),
  },
  'vertex-ai': {vertex_auth_type: 'basic'},
  'workers-ai': {workers_ai_account_id: '0123456789abcdef0123456789abcdef'},
}
export const PATHS: Readonly<Record<string, string>> = {
  chatComplete: '/v1/chat/completions',
  complete: '/v1/completions',
  embed: '/v1/embeddings',
  rerank: '/v1/rerank',
  imageGenerate: '/v1/images/generations',
}

interface Case {
  readonly asked: Json
  readonly provider?: string
  readonly options: Json
  readonly strict: boolean
  readonly reply?: unknown
  readonly events?: Buffer
  readonly faults: readonly (readonly [status: number, body: string])[]
}

/** What is asked where a fixture has an answer alone. */
const PLAIN: Json = {model: 'm', messages: [{role: 'user', content: 'hi'}]}

const ROOT = join(import.meta.dirname, '../fixtures')

/**
 * The rows of every dialect with fixtures: each case asked whole, as a stream, and failed, as far as it has bytes for
 * it.
 */
export function dialectRows(): Readonly<Record<string, readonly Row[]>> {
  return Object.fromEntries(
    readdirSync(ROOT)
      .filter(dialect => PROVIDERS[dialect] !== null && dialect !== 'openai' && isFolder(join(ROOT, dialect)))
      .map(dialect => [dialect, rowsOf(dialect)]),
  )
}

function rowsOf(dialect: string): Row[] {
  const endpoints = readdirSync(join(ROOT, dialect)).filter(endpoint => isFolder(join(ROOT, dialect, endpoint)))
  return endpoints.flatMap(endpoint => {
    const path = PATHS[endpoint]
    if (!path) throw new Error(`no path for ${endpoint} of test/fixtures/${dialect}`)
    return readdirSync(join(ROOT, dialect, endpoint)).flatMap(name => {
      const one = readCase(join(ROOT, dialect, endpoint, name))
      const provider = one.provider ?? PROVIDERS[dialect] ?? dialect
      const ask = (more: Json): Partial<RowAsk> => ({
        path,
        headers: headersFor(provider, {...OPTIONS[provider], ...one.options}, one.strict),
        body: {...one.asked, ...more},
      })
      const of = `${dialect} ${endpoint} ${name}`
      const {stream: _, stream_options: __, ...plain} = one.asked
      const whole_ask = {...ask({}), body: plain}
      const rows: Row[] = []
      if (one.reply !== undefined) rows.push({name: `${of}: whole`, asks: [whole_ask], a: [whole(one.reply)]})
      if (one.events)
        rows.push({name: `${of}: stream`, asks: [ask({stream: true})], a: [streamOf(dialect, one.events)]})
      for (const [at, [status, body]] of one.faults.entries()) {
        rows.push({name: `${of}: fault ${at + 1}`, asks: [whole_ask], a: [whole(body, {status})]})
      }
      if (rows.length === 0) rows.push({name: `${of}: asked`, asks: [ask({})], a: [whole({})]})
      return rows
    })
  })
}

function streamOf(dialect: string, events: Buffer): Reply {
  return stream([events], dialect === 'bedrock' ? {type: 'application/vnd.amazon.eventstream'} : {})
}

/** Every dialect's files by their own names, as far as a client, a provider and its place are in them. */
function readCase(folder: string): Case {
  const json = <T>(file: string): T | undefined =>
    existsSync(join(folder, file)) ? (JSON.parse(readFileSync(join(folder, file), 'utf8')) as T) : undefined
  const request = json<Json>('request.json')
  const said = json<Json>('case.json') ?? {}
  const context = {
    ...json<Json>('context.json'),
    ...(said.context as Json | undefined),
    ...(request?.context as Json | undefined),
  }
  const asked = (said.asked ?? json('asked.json') ?? request?.asked ?? request ?? {}) as Json
  const frames = json<Json[]>('events.json')
  const events = existsSync(join(folder, 'events.txt'))
    ? readFileSync(join(folder, 'events.txt'))
    : frames &&
      Buffer.concat(frames.flatMap(each => Object.entries(each).map(([name, payload]) => eventFrame(name, payload))))
  const reply = json('reply.json') ?? json('said.json')
  const provider = placeOf(context)
  const asks_nothing = Object.keys(asked).length === 0
  return {
    asked: {...(asks_nothing && PLAIN), ...asked, ...(typeof context.model === 'string' && {model: context.model})},
    options: {
      ...(context.options as Json | undefined),
      ...(context.place === 'vertex' && {vertex_project_id: 'p-1', vertex_region: 'global'}),
    },
    strict: context.strict !== false,
    faults: (said.faults as Case['faults'] | undefined) ?? [],
    ...(provider && {provider}),
    ...(reply !== undefined && {reply}),
    ...(events && {events}),
  }
}

function placeOf({place, provider}: Json): string | undefined {
  if (place === 'vertex') return 'vertex-ai'
  if (place === 'bedrock') return 'bedrock'
  return provider as string | undefined
}

/** A provider by its kind, at the address of `@a`. */
export function headersFor(provider: string, options: Json, strict = true): Record<string, string> {
  return {
    'x-gateway-provider': provider,
    'x-gateway-custom-host': 'http://{a}',
    authorization: 'Bearer sk-of-the-client',
    'content-type': 'application/json',
    ...Object.fromEntries(
      Object.entries(options).map(([name, value]) => [`x-gateway-${name.replaceAll('_', '-')}`, String(value)]),
    ),
    ...(strict ? {} : {'x-gateway-strict-open-ai-compliance': 'false'}),
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && !path.endsWith('.json')
}
