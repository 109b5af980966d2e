import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {type BatchFacts, batchObject, metadataIn, needed, seconds, whole} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {answeredRow, type BatchRow, changedRows, endpointOf, failedRow, PATHS, wordsOfRow} from '../jobs/rows.ts'
import type {OperationInput, ProviderOperation, Upstream} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'

const CUSTOM_ID = /^[\w-]{1,64}$/

/**
 * OpenAI's batches ⇄ message batches (platform.claude.com/docs, Message Batches API). The rows go with the batch
 * itself.
 */
export const batches: Partial<Record<EndpointName, ProviderOperation>> = {
  async createBatch(input, {ask}) {
    const {body, shelf} = input
    if (endpointOf(body.endpoint, 'endpoint') !== 'chatComplete')
      throw new UnsupportedInputFault('endpoint', 'Anthropic runs batches of /v1/chat/completions alone')
    const file = await shelf.find(needed(body, 'input_file_id', 'expected the id of a file'))
    if (!file)
      throw new UnsupportedInputFault('input_file_id', 'no file that was uploaded here for a batch has this id')
    const headers = {'content-type': 'application/json'}
    const reply = await ask({
      method: 'POST',
      path: '/messages/batches',
      headers,
      body: requestsOf(shelf.read(file), input),
    })
    return {json: batchObject({...batchOf(await reply.json()), input_file_id: file.id, metadata: metadataIn(body)})}
  },
  retrieveBatch: async (input, upstream) => ({json: batchObject(batchOf(await batchAt(input, upstream)))}),
  cancelBatch: async ({id}, {ask}) => ({
    json: batchObject(batchOf(await (await ask({method: 'POST', path: `${pathOf(id)}/cancel`})).json())),
  }),
  listBatches: (input, {ask}) =>
    listed(input, async (token, size) => {
      const after = token === null ? '' : `&after_id=${uriPart(token)}`
      const {data, has_more, last_id} = await (
        await ask({method: 'GET', path: `/messages/batches?limit=${size}${after}`})
      ).json()
      const items = (Array.isArray(data) ? data : []).map(each => batchObject(batchOf(object(each))))
      return {items, next: has_more === true && typeof last_id === 'string' ? last_id : null}
    }),
  getBatchOutput: async (input, upstream) => resultsOf(input, upstream),
}

/** `{custom_id, params}`, as a message batch has its requests. */
export function batchInput(row: BatchRow, input: OperationInput): Json {
  if (row.endpoint !== 'chatComplete')
    throw new UnsupportedInputFault('url', 'Anthropic runs batches of /v1/chat/completions alone')
  if (row.model === '')
    throw new UnsupportedInputFault('body.model', 'expected the name of a model, here or as the header provider-model')
  if (!CUSTOM_ID.test(row.custom_id))
    throw new UnsupportedInputFault('custom_id', 'Anthropic takes letters, digits, _ and -, 64 at most')
  return {custom_id: row.custom_id, params: wordsOfRow(row, input)}
}

/** The results of a batch that ended, as OpenAI's rows. */
export async function resultsOf(input: OperationInput, {ask}: Upstream) {
  const {body} = await ask({method: 'GET', path: `${pathOf(input.id)}/results`})
  return {
    content: changedRows(body, (row, number) => resultOf(row, number, input)),
    content_type: 'application/octet-stream',
  }
}

export function isBatch(id: string): boolean {
  return id.startsWith('msgbatch_')
}

export async function batchAt({id}: OperationInput, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: pathOf(id)})).json()
}

export function batchOf(batch: Json): BatchFacts {
  const {id, processing_status: status, cancel_initiated_at, results_url} = batch
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a batch')
  const {processing, succeeded, errored, canceled, expired} = object(batch.request_counts)
  const [completed, failed] = [whole(succeeded), whole(errored) + whole(canceled) + whole(expired)]
  const is_cancelled = typeof cancel_initiated_at === 'string' && whole(canceled) > 0
  const is_expired = completed === 0 && whole(errored) === 0 && whole(expired) > 0
  const ended = is_cancelled ? 'cancelled' : is_expired ? 'expired' : 'completed'
  return {
    id,
    status: status === 'ended' ? ended : status === 'canceling' ? 'cancelling' : 'in_progress',
    endpoint: PATHS.chatComplete,
    input_file_id: '',
    created_at: seconds(batch.created_at),
    in_progress_at: seconds(batch.created_at),
    ended_at: seconds(batch.ended_at),
    expires_at: seconds(batch.expires_at),
    output_file_id: typeof results_url === 'string' ? id : null,
    counts: {total: completed + failed + whole(processing), completed, failed},
  }
}

/** `{custom_id, result}`: a message, an error, or that it was given up. */
function resultOf({custom_id, result}: Json, number: number, input: OperationInput): Json {
  const id = typeof custom_id === 'string' ? custom_id : ''
  const {type, message, error} = object(result)
  if (type === 'succeeded') {
    const {model} = object(message)
    return answeredRow(
      {custom_id: id, endpoint: 'chatComplete', model: typeof model === 'string' ? model : '', number},
      message,
      input,
    )
  }
  const failure = object(object(error).error ?? error)
  const code = typeof failure.type === 'string' ? failure.type : String(type)
  return failedRow(number, id, {
    code,
    message: `${input.context.provider} error: ${typeof failure.message === 'string' ? failure.message : `the request was ${String(type)}`}`,
  })
}

/** The rows of a file as the one body of a batch. */
async function* requestsOf(rows: AsyncIterable<Buffer>, {allow}: OperationInput): AsyncGenerator<Buffer> {
  let is_first = true
  yield Buffer.from('{"requests":[')
  const checked = (row: Json) => {
    const {model} = object(row.params)
    allow(typeof model === 'string' ? model : '')
    return row
  }
  for await (const piece of changedRows(rows, checked)) {
    const text = piece.toString('utf8').trimEnd().replaceAll('\n', ',')
    yield Buffer.from(is_first ? text : `,${text}`)
    is_first = false
  }
  yield Buffer.from(']}')
}

function pathOf(id: string): string {
  if (!/^\w{1,128}$/.test(id)) throw new UnsupportedInputFault('id', 'expected the id of a batch')
  return `/messages/batches/${id}`
}
