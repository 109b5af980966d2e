import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {relatedOf} from '../jobs/form.ts'
import {
  type BatchFacts,
  type BatchStatus,
  batchObject,
  fileObject,
  itemsIn,
  known,
  metadataIn,
  needed,
  seconds,
  textAt,
  whole,
} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {answeredRow, type BatchRow, changedRows, endpointOf, failedRow, PATHS, wordsOfRow} from '../jobs/rows.ts'
import {openUpload} from '../jobs/upload.ts'
import type {OperationInput, ProviderOperations, Upstream} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {fault} from './errors.ts'
import {word} from './read.ts'

const STATUSES: Readonly<Record<string, BatchStatus>> = {
  PENDING: 'validating',
  RUNNING: 'in_progress',
  SUCCEEDED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
}
/** Names of the files that batches write. */
const OUTPUT = /^batch-/

/**
 * Files and batches of the Gemini API (ai.google.dev/api: files, batch-api). Names are shown without `files/` and
 * `batches/`.
 */
export const geminiOperations: ProviderOperations = {
  endpoints: {
    async uploadFile(input, {ask}) {
      const {file_name, content, content_type, purpose} = await openUpload(input, {batch: batchInput})
      const mimeType = purpose === 'batch' ? 'application/jsonl' : content_type
      const {headers, body} = relatedOf({file: {displayName: file_name, mimeType}}, mimeType, content)
      const upload_headers = {...headers, 'x-goog-upload-protocol': 'multipart'}
      const {file} = await (
        await ask({method: 'POST', path: '/upload/v1beta/files', headers: upload_headers, body})
      ).json()
      return {json: fileOf(object(file), purpose)}
    },
    listFiles: (input, {ask}) =>
      listed(input, async (token, size) => {
        const response = await (await ask({method: 'GET', path: `/v1beta/files?${page(token, size)}`})).json()
        return {items: itemsIn(response.files).map(file => fileOf(file)), next: word(response.nextPageToken)}
      }),
    retrieveFile: async ({id}, {ask}) => ({
      json: fileOf(await (await ask({method: 'GET', path: `/v1beta/files/${segment(id, 'files')}`})).json()),
    }),
    async deleteFile({id}, {ask}) {
      const name = segment(id, 'files')
      ;(await ask({method: 'DELETE', path: `/v1beta/files/${name}`})).drop()
      return {json: {id: name, object: 'file', deleted: true}}
    },
    retrieveFileContent: (input, upstream) => contentOf(segment(input.id, 'files'), input, upstream),
    async createBatch({body, context}, {ask}) {
      if (endpointOf(body.endpoint, 'endpoint') !== 'chatComplete')
        throw new UnsupportedInputFault('endpoint', 'Gemini runs batches of /v1/chat/completions alone here')
      if (context.model === '')
        throw new UnsupportedInputFault('model', 'expected the name of a model: Gemini runs one for all rows')
      const input = segment(needed(body, 'input_file_id', 'expected the id of a file'), 'files')
      const path = `/v1beta/models/${uriPart(context.model.replace(/^models\//, ''), 'The model')}:batchGenerateContent`
      const displayName = textAt(body, 'job_name') ?? `gateway-${context.call_id}`
      const batch = {batch: {displayName, inputConfig: {fileName: `files/${input}`}}}
      const facts = batchOf(await (await ask({method: 'POST', path, body: batch})).json())
      return {json: batchObject({...facts, input_file_id: input, model: context.model, metadata: metadataIn(body)})}
    },
    retrieveBatch: async (input, upstream) => ({json: batchObject(batchOf(await batchAt(input, upstream)))}),
    async cancelBatch(input, upstream) {
      ;(await upstream.ask({method: 'POST', path: `/v1beta/batches/${segment(input.id, 'batches')}:cancel`})).drop()
      const facts = batchOf(await batchAt(input, upstream))
      const is_over = facts.status !== 'validating' && facts.status !== 'in_progress'
      return {json: batchObject(is_over ? facts : {...facts, status: 'cancelling'})}
    },
    listBatches: (input, {ask}) =>
      listed(input, async (token, size) => {
        const response = await (await ask({method: 'GET', path: `/v1beta/batches?${page(token, size)}`})).json()
        return {
          items: itemsIn(response.operations).map(job => batchObject(batchOf(job))),
          next: word(response.nextPageToken),
        }
      }),
    async getBatchOutput(input, upstream) {
      const {output_file_id: file, status} = batchOf(await batchAt(input, upstream))
      if (!file) throw new UnsupportedInputFault('id', `the batch has no output: it is ${status}`)
      return contentOf(file, input, upstream)
    },
  },
  fault,
}

/** `{key, request}` (ai.google.dev/gemini-api/docs/batch-api, "Input file"). */
function batchInput(row: BatchRow, input: OperationInput): Json {
  if (row.endpoint !== 'chatComplete')
    throw new UnsupportedInputFault('url', 'Gemini runs batches of /v1/chat/completions alone here')
  if (row.model === '')
    throw new UnsupportedInputFault('body.model', 'expected the name of a model, here or as the header provider-model')
  return {key: row.custom_id, request: wordsOfRow(row, input)}
}

async function contentOf(file: string, input: OperationInput, {ask}: Upstream) {
  const {body} = await ask({method: 'GET', path: `/download/v1beta/files/${file}:download?alt=media`})
  const content = OUTPUT.test(file) ? changedRows(body, (row, number) => outputRow(row, number, input)) : body
  return {content, content_type: 'application/octet-stream'}
}

/** `{key, response}` or `{key, error}`. */
function outputRow({key, response, error}: Json, number: number, input: OperationInput): Json {
  const custom_id = word(key) ?? ''
  const {message, code} = object(error)
  if (response === undefined || response === null) {
    const reason = word(message) ?? 'the request was not answered'
    return failedRow(number, custom_id, {
      code: code === undefined ? null : String(code),
      message: `${input.context.provider} error: ${reason}`,
    })
  }
  const model = word(object(response).modelVersion) ?? ''
  return answeredRow({custom_id, endpoint: 'chatComplete', model, number}, response, input)
}

async function batchAt({id}: OperationInput, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: `/v1beta/batches/${segment(id, 'batches')}`})).json()
}

/** A batch comes as a long-running operation: its own members are the metadata. */
function batchOf(operation: Json): BatchFacts {
  const batch = object(operation.metadata)
  const name = word(operation.name) ?? word(batch.name)
  if (name === null) throw new InvalidResponseFault('expected the name of a batch')
  const {requestCount, successfulRequestCount, failedRequestCount} = object(batch.batchStats)
  const output = word(object(operation.response).responsesFile) ?? word(object(batch.output).responsesFile)
  const input = word(object(batch.inputConfig).fileName)
  const model = word(batch.model)
  return {
    id: name.replace(/^batches\//, ''),
    status: known(STATUSES, word(batch.state)?.replace(/^(?:BATCH|JOB)_STATE_/, ''), 'in_progress'),
    endpoint: PATHS.chatComplete,
    input_file_id: input?.replace(/^files\//, '') ?? '',
    model: model === null ? null : model.replace(/^models\//, ''),
    created_at: seconds(batch.createTime),
    ended_at: seconds(batch.endTime),
    output_file_id: output?.replace(/^files\//, '') ?? null,
    counts: {total: whole(requestCount), completed: whole(successfulRequestCount), failed: whole(failedRequestCount)},
    failure: word(object(operation.error).message),
  }
}

function fileOf(file: Json, purpose?: string): Json {
  const name = word(file.name)
  if (name === null) throw new InvalidResponseFault('expected the name of a file')
  const id = name.replace(/^files\//, '')
  return fileObject({
    id,
    bytes: whole(file.sizeBytes),
    created_at: seconds(file.createTime) ?? 0,
    filename: word(file.displayName) ?? id,
    purpose: purpose ?? (OUTPUT.test(id) ? 'batch_output' : 'user_data'),
    status: file.state === 'FAILED' ? 'error' : file.state === 'PROCESSING' ? 'uploaded' : 'processed',
  })
}

function page(token: string | null, size: number): URLSearchParams {
  return new URLSearchParams({pageSize: String(size), ...(token && {pageToken: token})})
}

function segment(id: string, kind: string): string {
  const name = id.replace(`${kind}/`, '')
  if (!/^[\w-]{1,128}$/.test(name)) throw new UnsupportedInputFault('id', 'expected the id of a file or a batch')
  return name
}
