import {Refusal} from '../../base/errors.ts'
import {type Call, DIRECT_ROUTE} from '../call/call.ts'
import {answerHeaders} from '../call/response-headers.ts'
import {evaluateRequest} from '../guardrails/evaluate.ts'
import type {ProxyServices} from '../services.ts'
import {resolveGuardrails} from '../targets/guardrails.ts'

interface Row {
  readonly id: string
  readonly slug: string
  readonly canonical_slug: string
  readonly object: 'model'
}

/** The list is the gateway's own: what runs on every call is judged all the same. */
const NOWHERE = {params: {}, model: null, strict: true, provider: {slug: 'gateway'}}
const SORTS = ['name', 'provider', 'ai_service'] as const

/** The models of the workspace's providers (reference: `/models` without a provider). Query: ai_service, provider, limit, offset, sort, order. */
export async function listModels(call: Call, services: ProxyServices): Promise<void> {
  await evaluateRequest(await resolveGuardrails({}, 'config', call.caller, services), call, NOWHERE, services)
  const query = new URLSearchParams(call.incoming.route.query)
  const sort = oneOf(query, 'sort', SORTS) ?? 'name'
  const descending = oneOf(query, 'order', ['asc', 'desc']) === 'desc'
  const offset = count(query, 'offset', Number.MAX_SAFE_INTEGER) ?? 0
  const limit = count(query, 'limit', 10_000)
  const providers = await services.providerSlugs(call.caller.workspace_id)
  const wanted = providers.filter(({slug, kind}) => matches(query.get('provider'), slug) && matches(query.get('ai_service'), kind))
  const rows = wanted.flatMap(({slug, kind, models}) =>
    models.map(model => ({
      kind,
      provider: slug,
      row: {id: `@${slug}/${model}`, slug: model, canonical_slug: model, object: 'model'} satisfies Row,
    })),
  )
  const by =
    sort === 'name'
      ? (each: (typeof rows)[number]) => each.row.slug
      : sort === 'provider'
        ? (each: (typeof rows)[number]) => each.provider
        : (each: (typeof rows)[number]) => each.kind
  rows.sort((one, other) => compare(by(one), by(other)) || compare(one.row.id, other.row.id))
  if (descending) rows.reverse()
  const data = rows.slice(offset, limit === undefined ? undefined : offset + limit).map(({row}) => row)
  const body = Buffer.from(JSON.stringify({object: 'list', total: rows.length, data}))
  call.relay.head(
    200,
    [
      'content-type',
      'application/json; charset=utf-8',
      ...answerHeaders(
        call,
        null,
        {},
        {is_stream: false, rewrites: false, timing: null, route: DIRECT_ROUTE, retry_attempt_count: 0, services},
      ),
    ],
    false,
  )
  call.relay.end([body])
  for (const admission of call.admissions) admission.settle({tokens: 0, cost_nanousd: 0})
}

function matches(wanted: string | null, is: string): boolean {
  return wanted === null || wanted.replace(/^@/, '') === is
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function oneOf<T extends string>(query: URLSearchParams, name: string, words: readonly T[]): T | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (words.includes(value as T)) return value as T
  throw new Refusal('body.invalid', {issues: `${name}: expected one of ${words.join(', ')}.`})
}

function count(query: URLSearchParams, name: string, most: number): number | undefined {
  const value = query.get(name)
  if (value === null) return undefined
  if (/^\d{1,15}$/.test(value) && Number(value) <= most) return Number(value)
  throw new Refusal('body.invalid', {issues: `${name}: expected a whole number of at most ${most}.`})
}
