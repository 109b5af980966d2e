import {isObject, list, object, parsed} from '../../base/json-object.ts'
import {seconds} from '../jobs/objects.ts'
import type {OperationInput, Upstream, UpstreamReply} from '../operation.ts'
import {InvalidResponseFault, type Json} from '../translation.ts'

/** A model as its provider lists it; what the provider does not say is absent. */
export interface ListedModel {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created?: number | undefined
  readonly owned_by?: string | undefined
  /** For people. */
  readonly name?: string | undefined
  readonly context_length?: number | undefined
  readonly max_output_tokens?: number | undefined
  /** Members of the provider's own that clients of its list know; none is null. */
  readonly more?: Json
}

/** Asks a provider for its list. */
export type ModelLister = (
  input: {readonly query: URLSearchParams; readonly context: OperationInput['context']},
  upstream: Upstream,
) => Promise<readonly ListedModel[]>

/** A longer list is cut. */
const MAX_PAGES = 20
/** Names longer than a call may have are of no use. */
const MAX_ID_LENGTH = 1024

/** A list that comes in pages; `page` gives the next one's token, null at the end. */
export async function everyPage(
  page: (token: string | null) => Promise<{readonly models: readonly ListedModel[]; readonly next: string | null}>,
): Promise<readonly ListedModel[]> {
  const all: ListedModel[] = []
  let token: string | null = null
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const {models, next}: Awaited<ReturnType<typeof page>> = await page(token)
    all.push(...models)
    if (next === null || next === token) break
    token = next
  }
  return all
}

/** The JSON of a provider's answer, of any kind: Together sends a bare list. */
export async function jsonOf(reply: UpstreamReply): Promise<unknown> {
  const value = parsed((await reply.bytes()).toString())
  if (value === undefined) throw new InvalidResponseFault('expected JSON')
  return value
}

/** The rows of a list: the answer itself, or the member that holds them. */
export function rowsIn(value: unknown, ...members: readonly string[]): readonly Json[] {
  const rows = Array.isArray(value) ? value : members.map(member => object(value)[member]).find(Array.isArray)
  if (rows === undefined) throw new InvalidResponseFault('expected a list of models')
  return list(rows).filter(isObject)
}

/** The models of these rows that have a name, each once. */
export function named(rows: readonly Json[], read: (row: Json) => ListedModel | null): readonly ListedModel[] {
  const models = new Map<string, ListedModel>()
  for (const row of rows) {
    const model = read(row)
    if (model?.id && model.id.length <= MAX_ID_LENGTH && !models.has(model.id)) models.set(model.id, model)
  }
  return [...models.values()]
}

/** A row of a list in OpenAI's shape, with what others than OpenAI add to it. */
export function openaiRow(row: Json): ListedModel | null {
  const id = text(row.id) ?? text(row.name) ?? text(row.model)
  if (id === undefined) return null
  const top = object(row.top_provider)
  return {
    id,
    created: timeOf(row.created) ?? timeOf(row.created_at),
    owned_by: text(row.owned_by) ?? text(row.organization),
    name: text(row.display_name) ?? text(row.displayName) ?? text(row.name),
    context_length:
      firstCount(
        row.context_length,
        row.context_window,
        row.max_model_len,
        row.max_context_length,
        row.max_input_tokens,
      ) ?? firstCount(object(row.meta).n_ctx, top.context_length),
    max_output_tokens: firstCount(
      row.max_output_tokens,
      row.max_completion_tokens,
      row.max_tokens,
      top.max_completion_tokens,
    ),
    more: withoutNulls(row),
  }
}

/** A count above 0, which providers also write as a text. */
export function firstCount(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    const count = typeof value === 'string' && value !== '' ? Number(value) : value
    if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  }
  return undefined
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Seconds since the epoch, of a number or an ISO time. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : (seconds(value) ?? undefined)
  return at !== undefined && at > 0 && at <= Number.MAX_SAFE_INTEGER ? at : undefined
}

function withoutNulls(row: Json): Json {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}
