import {object} from '../../base/json-object.ts'
import {formOf} from '../jobs/form.ts'
import {
  type BatchFacts,
  type BatchStatus,
  batchObject,
  fileObject,
  itemsIn,
  known,
  needed,
  seconds,
  textAt,
  whole,
} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {type BatchRow, endpointOf, PATHS} from '../jobs/rows.ts'
import {openUpload} from '../jobs/upload.ts'
import type {OperationInput, ProviderOperations, Upstream} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {readFault} from '../unified/fault.ts'

const STATUSES: Readonly<Record<string, BatchStatus>> = {
  processing: 'in_progress',
  complete: 'completed',
  cancelling: 'cancelling',
  cancelled: 'cancelled',
  failed: 'failed',
}
const USUAL_INPUT_TYPE = 'search_document'

/**
 * Files are datasets of texts to embed, batches are embed jobs (docs.cohere.com, API reference, datasets, embed-jobs).
 * What a job writes is a dataset in Avro, which is given as it is stored.
 */
export const cohereOperations: ProviderOperations = {
  endpoints: {
    async uploadFile(input, {ask}) {
      const {file_name, content, content_type} = await openUpload(input, {batch: embedRow})
      const query = new URLSearchParams({name: file_name.slice(0, 100), type: 'embed-input', keep_fields: 'custom_id'})
      const {headers, body} = formOf([{name: 'data', file_name: jsonl(file_name), content_type, content}])
      const {id} = await (await ask({method: 'POST', path: `/v1/datasets?${query}`, headers, body})).json()
      if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a dataset')
      const facts = {id, bytes: 0, created_at: input.context.created_s, filename: file_name, purpose: 'batch'}
      return {json: fileObject({...facts, status: 'uploaded'})}
    },
    listFiles: (input, {ask}) =>
      listed(input, async (token, size) => {
        const offset = Number(token ?? 0)
        const {datasets} = await (
          await ask({method: 'GET', path: `/v1/datasets?limit=${size}&offset=${offset}`})
        ).json()
        const items = itemsIn(datasets).map(fileOf)
        return {items, next: items.length < size ? null : String(offset + items.length)}
      }),
    retrieveFile: async (input, upstream) => ({json: fileOf(await datasetOf(input.id, upstream))}),
    async deleteFile({id}, {ask}) {
      ;(await ask({method: 'DELETE', path: `/v1/datasets/${segment(id)}`})).drop()
      return {json: {id, object: 'file', deleted: true}}
    },
    async retrieveFileContent({id}, upstream) {
      const parts = itemsIn((await datasetOf(id, upstream)).dataset_parts).flatMap(({url}) =>
        typeof url === 'string' ? [url] : [],
      )
      if (parts.length === 0)
        throw new UnsupportedInputFault('id', 'the file has no content yet: Cohere still reads it')
      return {content: all(parts, upstream), content_type: 'application/octet-stream'}
    },
    async createBatch({body, context}, upstream) {
      if (endpointOf(body.endpoint, 'endpoint') !== 'embed')
        throw new UnsupportedInputFault('endpoint', 'Cohere runs batches of /v1/embeddings alone')
      if (context.model === '')
        throw new UnsupportedInputFault('model', 'expected the name of a model: Cohere runs one for all rows')
      const job = {
        model: context.model,
        dataset_id: segment(needed(body, 'input_file_id', 'expected the id of a file')),
        input_type: textAt(body, 'input_type') ?? USUAL_INPUT_TYPE,
        name: textAt(body, 'job_name') ?? `gateway-${context.call_id}`,
      }
      const {job_id} = await (await upstream.ask({method: 'POST', path: '/v1/embed-jobs', body: job})).json()
      if (typeof job_id !== 'string') throw new InvalidResponseFault('expected the id of a job')
      return {json: batchObject(batchOf(await jobAt(job_id, upstream)))}
    },
    retrieveBatch: async ({id}, upstream) => ({json: batchObject(batchOf(await jobAt(id, upstream)))}),
    async cancelBatch({id}, upstream) {
      ;(await upstream.ask({method: 'POST', path: `/v1/embed-jobs/${segment(id)}/cancel`})).drop()
      return {json: batchObject(batchOf(await jobAt(id, upstream)))}
    },
    listBatches: (input, {ask}) =>
      listed(input, async () => {
        const {embed_jobs} = await (await ask({method: 'GET', path: '/v1/embed-jobs'})).json()
        return {items: itemsIn(embed_jobs).map(job => batchObject(batchOf(job))), next: null}
      }),
  },
  fault: readFault,
}

/** One text a row; its id is kept beside it. */
function embedRow({custom_id, endpoint, body, model}: BatchRow, {allow}: OperationInput): Json {
  allow(model)
  if (endpoint !== 'embed') throw new UnsupportedInputFault('url', 'Cohere runs batches of /v1/embeddings alone')
  const text = Array.isArray(body.input) && body.input.length === 1 ? body.input[0] : body.input
  if (typeof text !== 'string') throw new UnsupportedInputFault('body.input', 'expected one text a row')
  return {text, custom_id}
}

async function* all(urls: readonly string[], {ask}: Upstream): AsyncGenerator<Buffer> {
  for (const url of urls) yield* (await ask({method: 'GET', path: url, signed: true})).body
}

async function datasetOf(id: string, {ask}: Upstream): Promise<Json> {
  return object((await (await ask({method: 'GET', path: `/v1/datasets/${segment(id)}`})).json()).dataset)
}

async function jobAt(id: string, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: `/v1/embed-jobs/${segment(id)}`})).json()
}

function fileOf(dataset: Json): Json {
  const {id, name, created_at, dataset_type, validation_status, validation_error, dataset_parts} = dataset
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a dataset')
  const is_failed = validation_status === 'failed'
  return fileObject({
    id,
    bytes: itemsIn(dataset_parts).reduce((sum, {size_bytes}) => sum + whole(size_bytes), 0),
    created_at: seconds(created_at) ?? 0,
    filename: typeof name === 'string' ? name : '',
    purpose: dataset_type === 'embed-result' ? 'batch_output' : 'batch',
    status: is_failed
      ? 'error'
      : validation_status === 'validated' || validation_status === 'skipped'
        ? 'processed'
        : 'uploaded',
    status_details: is_failed && typeof validation_error === 'string' ? validation_error : null,
  })
}

function batchOf(job: Json): BatchFacts {
  const {job_id, status, input_dataset_id, output_dataset_id, model, created_at} = job
  if (typeof job_id !== 'string') throw new InvalidResponseFault('expected the id of a job')
  return {
    id: job_id,
    status: known(STATUSES, status, 'in_progress'),
    endpoint: PATHS.embed,
    input_file_id: typeof input_dataset_id === 'string' ? input_dataset_id : '',
    model: typeof model === 'string' ? model : null,
    created_at: seconds(created_at),
    output_file_id: typeof output_dataset_id === 'string' && output_dataset_id !== '' ? output_dataset_id : null,
  }
}

/** Cohere tells the form of a file by its name. */
function jsonl(name: string): string {
  return /\.(?:jsonl|csv)$/i.test(name) ? name : `${name}.jsonl`
}

function segment(id: string): string {
  if (!/^[\w-]{1,128}$/.test(id)) throw new UnsupportedInputFault('id', 'expected the id of a file or a job')
  return id
}
