import type {z} from 'zod'
import {isObject, parseJson} from '../base/json-object.ts'
import type {AnswerDigests} from '../cache/semantic/agreement.ts'
import {CacheQuestioned, CacheQuestions, type LoggedQuestion} from '../schema/cache-evaluation.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import {ownHeaders} from '../schema/headers.ts'
import type {ReplayedRow} from '../store/logs-for-replay.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {LogBodiesTable} from '../store/tables/traffic.ts'
import {evaluationPayer} from './cache-payer.ts'
import {type LoggedPrompt, loggedPrompts} from './cache-prompts.ts'
import {loggedAnswer} from './logged-answers.ts'
import {type OperationCall, operation} from './operation.ts'
import type {EvaluationPayer, TextDescriber} from './services.ts'
import {workspaceOf} from './tenancy.ts'

/** Logged calls as the semantic cache compares them: who has them can evaluate thresholds and gates elsewhere. */
export const cacheQuestions = [
  operation({
    id: 'cache.questions',
    tag: 'Cache',
    method: 'POST',
    path: '/cache/questions',
    summary: 'Describe logged calls as the semantic cache compares them, a page at a time; no model is called',
    scopes: ['logs.view'],
    only_reads: true,
    refuses: [412, 429],
    body: CacheQuestions,
    reply: CacheQuestioned,
    handle: questioned,
  }),
] as const

/** So many texts are described side by side: each may wait for a service. */
const AT_A_TIME = 8

type Described = z.input<typeof CacheQuestioned>

async function questioned(call: OperationCall<undefined, undefined, typeof CacheQuestions>): Promise<Described> {
  const {app} = call
  const workspace = await workspaceOf(call, call.body.workspace_id)
  const describer = (await app.cache?.describer()) ?? null
  const ignores_system = app.settings.semantic_cache_ignore_system_prompt
  const {prompts, ...page} = await loggedPrompts(call, workspace, call.body, {ignores_system})
  const embeddings = {requests: 0, cost_usd: 0}
  const refusals: unknown[] = []
  const payer = await evaluationPayer(call, workspace, {
    onRefused: refusal => void refusals.push(refusal),
    onCost(nanousd) {
      embeddings.requests++
      embeddings.cost_usd += nanousd / NANOUSD
    },
  })
  const data: LoggedQuestion[] = []
  let not_embedded = 0
  for (let at = 0; at < prompts.length; at += AT_A_TIME) {
    const some = prompts.slice(at, at + AT_A_TIME)
    const found = await Promise.all(some.map(each => describer && describe(each, describer, {payer, workspace})))
    // with what is left of a limit the rest could not be embedded either
    if (refusals.length > 0) throw refusals[0]
    for (const question of found) {
      if (question) data.push(question)
      else not_embedded++
    }
    await new Promise<void>(done => setImmediate(done))
  }
  return {
    object: 'cache_questions',
    embedder: describer?.embedder ?? null,
    threshold: describer?.threshold ?? 1,
    gate: describer?.gate ?? app.settings.semantic_cache_gate,
    ...page,
    not_embedded,
    embeddings,
    data,
  }
}

const NANOUSD = 1e9

interface Place {
  readonly payer: EvaluationPayer
  readonly workspace: WorkspacesTable
}

async function describe(
  prompt: LoggedPrompt,
  describer: TextDescriber,
  {payer, workspace}: Place,
): Promise<LoggedQuestion | null> {
  const {row, text} = prompt
  const described = await describer.describe(text.text, payer)
  const keys = described && (await keysOf(prompt, workspace))
  if (!described || !keys) return null
  const {vector, features, is_relative} = described
  return {
    log_id: row.id,
    created_at: row.created_at,
    ...keys,
    vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64'),
    features: {...features, classes: Object.fromEntries(Object.entries(features.classes))},
    is_relative,
    answer: await digestsOf(row, prompt.bodies),
    cost_usd: Number(row.cost_nanousd) / NANOUSD,
  }
}

/** The keys that the cache would have made of the call, as far as the log knows what went to the provider. */
async function keysOf({row, body, text, headers}: LoggedPrompt, workspace: WorkspacesTable) {
  const {behaviouralHeaders, cacheKey} = await import('../cache/key.ts')
  const own = ownHeaders(headers).values
  const parts = {
    organisation_id: workspace.organisation_id,
    workspace_id: workspace.id,
    provider: row.provider,
    base_url: row.provider_slug ?? '',
    endpoint: row.endpoint as EndpointName,
    path: '',
    model: row.model,
    own_credential: null,
    guards: '',
    namespace: own['cache-namespace'],
    metadata: textsOf(parseJson(row.metadata)),
    headers: behaviouralHeaders(own),
  }
  const masked: Record<string, unknown> = {...body, [text.member]: text.masked}
  for (const name of text.ignored) delete masked[name]
  const whole = cacheKey({...parts, body: Buffer.from(JSON.stringify(body))})
  const partition = cacheKey({...parts, body: Buffer.from(JSON.stringify(masked))})
  return whole && partition && {digest: whole.digest, partition: partition.digest}
}

function textsOf(record: unknown): Record<string, string> {
  if (!isObject(record)) return {}
  return Object.fromEntries(
    Object.entries(record).filter((each): each is [string, string] => typeof each[1] === 'string'),
  )
}

/** Null for an answer that would not have been kept for other words. */
async function digestsOf({endpoint}: ReplayedRow, bodies: LogBodiesTable): Promise<AnswerDigests | null> {
  const answer = await loggedAnswer(endpoint as EndpointName, bodies)
  if (!answer) return null
  const {isWholeAnswer} = await import('../cache/semantic/whole-answer.ts')
  const {answerDigests} = await import('../cache/semantic/agreement.ts')
  const is_whole = isWholeAnswer(answer.endpoint ?? (endpoint as EndpointName), answer.body)
  return is_whole ? answerDigests(answer.body) : null
}
