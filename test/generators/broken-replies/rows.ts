import {generateKeyPairSync} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {Json} from '../../../src/providers/translation.ts'
import {TEXT, TWINS} from '../../support/dialects.ts'

/** One dialect with a stream: how it is asked for one, and a whole one in its own words. */
export interface Row {
  readonly name: string
  readonly slug: string
  readonly endpoint: 'chat' | 'complete'
  readonly model: string
  /** Whose words are spoken to it; all where it does not say. */
  readonly clients?: readonly ('chat' | 'messages' | 'responses')[]
  /** What the config says of the place. */
  readonly options: Json
  readonly stream_type: string
  readonly framing: 'sse' | 'lines' | 'aws'
  readonly events: readonly Buffer[]
  /** A whole answer, not streamed. */
  readonly plain: Json
  /** True where bytes pass as they come. */
  readonly is_exact: boolean
  /** True where nothing but the connection's end says that an answer is whole. */
  readonly ends_by_close: boolean
}

const KEY = {api_key: 'sk-upstream-secret-0123456789'}
const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048})
const OCI = {
  oracle_region: 'us-chicago-1',
  oracle_compartment_id: 'ocid1.compartment.oc1..c',
  oracle_tenancy: 'ocid1.tenancy.oc1..t',
  oracle_user: 'ocid1.user.oc1..u',
  oracle_fingerprint: '20:3b:97:13',
  oracle_private_key: String(privateKey.export({type: 'pkcs8', format: 'pem'})),
}
const OPTIONS: Readonly<Record<string, Json>> = {
  bedrock: {aws_auth_type: 'apiKey', aws_region: 'us-east-1'},
  oracle: OCI,
  cortex: {snowflake_account: 'org-account'},
  'workers-ai': {workers_ai_account_id: 'a1'},
  'vertex-ai': {vertex_project_id: 'p', vertex_region: 'us-central1', vertex_auth_type: 'basic'},
}

const fixtures = join(import.meta.dirname, '../../fixtures')
const read = (place: string) => readFileSync(join(fixtures, place), 'utf8')

function fixture(slug: string, place: string, framing: Row['framing'] = 'sse', ends_by_close = false): Row {
  const asked = (JSON.parse(read(`${place}/case.json`)) as {asked: Json}).asked
  const between = framing === 'sse' ? /(?<=\n\n)/ : /(?<=\n)/
  const events = read(`${place}/events.txt`)
    .split(between)
    .filter(event => event.trim() !== '')
  return {
    name: place,
    slug,
    endpoint: place.includes('/complete/') ? 'complete' : 'chat',
    model: String(asked.model),
    options: {...KEY, ...OPTIONS[slug]},
    stream_type: framing === 'sse' ? 'text/event-stream' : 'application/stream+json',
    framing,
    events: events.map(event =>
      Buffer.from(framing === 'sse' && !event.endsWith('\n\n') ? `${event.trimEnd()}\n\n` : event),
    ),
    plain: JSON.parse(read(`${place}/reply.json`)) as Json,
    is_exact: false,
    ends_by_close,
  }
}

const twins = TWINS.map(
  ({kind, model, stream_type, events, plain}): Row => ({
    name: kind,
    slug: kind,
    endpoint: 'chat',
    model,
    options: {...KEY, ...OPTIONS[kind]},
    stream_type,
    framing: stream_type.startsWith('text/event-stream') ? 'sse' : 'aws',
    events: events(TEXT),
    plain: plain(TEXT),
    is_exact: kind === 'cerebras',
    ends_by_close: false,
  }),
)
const bedrockMessages = TWINS.find(({kind}) => kind === 'bedrock')!.beside!
const gemini = twins.find(({slug}) => slug === 'google')!

/**
 * Every dialect with a stream: the five great ones and OpenAI's in the words of their twins, the others in those of
 * their fixtures.
 */
export const ROWS: readonly Row[] = [
  ...twins.map(row => (row.slug === 'bedrock' ? {...row, clients: ['chat', 'responses'] as const} : row)),
  {
    ...twins.find(({slug}) => slug === 'bedrock')!,
    name: 'bedrock in the words of Messages',
    clients: ['messages'],
    model: bedrockMessages.model,
    events: bedrockMessages.events(TEXT),
    plain: bedrockMessages.plain(TEXT),
  },
  {...gemini, name: 'vertex-ai', slug: 'vertex-ai', options: {...KEY, ...OPTIONS['vertex-ai']}},
  fixture('ai21', 'ai21/chatComplete/text'),
  fixture('cortex', 'cortex/chatComplete/text', 'sse', true),
  fixture('oracle', 'oracle/chatComplete/text'),
  fixture('predibase', 'predibase/chatComplete/adapter'),
  fixture('reka-ai', 'reka/chatComplete/whole-text-each-time'),
  fixture('workers-ai', 'workers-ai/chatComplete/response'),
  fixture('cohere', 'cohere/complete/text', 'lines'),
  fixture('mistral-ai', 'mistral/complete/fill-in-the-middle'),
  fixture('triton', 'triton/complete/text', 'sse', true),
  fixture('workers-ai', 'workers-ai/complete/text'),
]

/** Words with which dialects say that an answer is whole. */
const SAYS_END =
  /"(?:finish_?reason|stop_?reason)": ?"[A-Za-z]|messageStop|message_stop|message-end|"is_finished":true|"done":true|\[DONE\]/i

/** How many events come before the one that says that the answer is whole. */
export function openEvents({events, ends_by_close}: Row): number {
  if (ends_by_close) return 0
  const at = events.findIndex(event => SAYS_END.test(event.toString('latin1')))
  return at < 0 ? events.length : at
}
