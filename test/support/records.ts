import {newTimeId} from '../../src/base/ids.ts'
import type {Intent, LogBodies, LogRecord, Settlement} from '../../src/schema/records.ts'
import {emptyUsage} from '../../src/schema/usage.ts'
import type {TargetOptions} from '../../src/store/flush/index.ts'
import type {TestStore} from './stores.ts'

export const ADMITTED_AT = '2026-03-04T05:06:07.008Z'
const API_KEY_ID = '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a03'

/** An attempt of a call, as the data plane says it. */
/** An intent with what a test says of it; `api_key_id` names its principal. */
export type IntentSeed = Partial<Intent> & {readonly api_key_id?: string}

export function intent({api_key_id = API_KEY_ID, ...given}: IntentSeed = {}): Intent {
  return {
    kind: 'call',
    call_id: newTimeId(Date.parse(ADMITTED_AT)),
    attempt: 1,
    trace_id: 'ab5c7d31-77f4-4b4e-9f3f-0e3d8cbb6a10',
    organisation_id: '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a01',
    workspace_id: '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a02',
    principal: {kind: 'api_key', id: api_key_id},
    user_id: null,
    provider_id: '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a04',
    provider_slug: 'main-provider',
    integration_id: '7c1d9a52-2b90-4c55-9a39-3ad4d17c8a05',
    config_id: null,
    provider: 'openai',
    model: 'gpt-4o-mini',
    endpoint: 'chatComplete',
    admitted_at: ADMITTED_AT,
    counter_keys: ['key:7c1d9a52:cost:2026-03'],
    hold_nanousd: 1_500,
    ...given,
  }
}

export function logRecord(given: Partial<LogRecord> = {}): LogRecord {
  return {
    id: newTimeId(Date.parse(ADMITTED_AT)),
    created_at: ADMITTED_AT,
    span_id: '5d2f0c1b9a7e4d33',
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    url: '/v1/chat/completions',
    upstream_url: 'https://api.openai.com/v1/chat/completions',
    response_status: 200,
    is_stream: false,
    is_passthrough: false,
    cache_status: 'DISABLED',
    retry_count: 0,
    mode: 'single',
    option_path: 'config',
    request_bytes: 1024,
    response_bytes: 987,
    metadata: {_user: 'someone', team: 'blue'},
    error: null,
    warning: null,
    auth_ms: 0.05,
    plan_ms: 0.02,
    connect_ms: 0.4,
    first_byte_ms: 310.25,
    last_byte_ms: 812.5,
    overhead_ms: 0.61,
    keeps_bodies: true,
    ...given,
  }
}

/** The end of `of`, with a log row of its own. */
export function settlement(of: Intent = intent(), given: Partial<Settlement> = {}): Settlement {
  return {
    ...of,
    settled_at: '2026-03-04T05:06:08.000Z',
    outcome: 'ok',
    status: 200,
    usage: {...emptyUsage(), input_uncached_tokens: 210, cache_read_tokens: 40, output_text_tokens: 120},
    usage_source: 'provider',
    cost_nanousd: 103_500,
    unpriced: false,
    delivered: true,
    log: logRecord(),
    ...given,
  }
}

export function logBodies(log_id: string, given: Partial<LogBodies> = {}): LogBodies {
  return {
    log_id,
    request_headers: {'content-type': 'application/json', authorization: '***'},
    request_body: Buffer.from('{"model":"gpt-4o-mini","messages":[]}'),
    response_headers: {'content-type': 'application/json'},
    response_body: Buffer.from('{"choices":[]}'),
    response_encoding: null,
    cut: false,
    ...given,
  }
}

/** The database of a test as the flusher opens it. */
export function targetOf({options}: Pick<TestStore, 'options'>): TargetOptions {
  return options.kind === 'sqlite' ? {kind: 'sqlite', folder: options.folder} : options
}
