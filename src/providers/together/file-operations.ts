import {isObject, object, parseJson} from '../../base/json-object.ts'
import {formOf} from '../jobs/form.ts'
import {
  type BatchFacts,
  type BatchStatus,
  batchObject,
  fileObject,
  hyperparametersIn,
  itemsIn,
  known,
  needed,
  seconds,
  type TuneFacts,
  type TuneStatus,
  textAt,
  tuneObject,
  whole,
} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {openUpload} from '../jobs/upload.ts'
import type {ProviderOperations, UpstreamReply} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {readFault} from '../unified/fault.ts'

const BATCH_STATUSES: Readonly<Record<string, BatchStatus>> = {
  VALIDATING: 'validating',
  IN_PROGRESS: 'in_progress',
  COMPLETED: 'completed',
  FAILED: 'failed',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
  CANCELED: 'cancelled',
}
const TUNE_STATUSES: Readonly<Record<string, TuneStatus>> = {
  pending: 'queued',
  queued: 'queued',
  running: 'running',
  compressing: 'running',
  uploading: 'running',
  cancel_requested: 'running',
  cancelled: 'cancelled',
  user_error: 'failed',
  error: 'failed',
  completed: 'succeeded',
}
/** Together's names of OpenAI's purposes. */
const PURPOSES: Readonly<Record<string, string>> = {batch: 'batch-api'}

/**
 * Files, batches and fine-tuning of Together AI (docs.together.ai, API reference, files, batches, fine-tunes). Rows are
 * OpenAI's.
 */
export const togetherOperations: ProviderOperations = {
  endpoints: {
    async uploadFile(input, {ask}) {
      const {purpose, ...file} = await openUpload(input, {})
      const {headers, body} = formOf([
        {name: 'purpose', value: PURPOSES[purpose] ?? purpose},
        {name: 'file_name', value: file.file_name},
        {name: 'file', ...file},
      ])
      return {json: fileOf(await (await ask({method: 'POST', path: '/files/upload', headers, body})).json())}
    },
    listFiles: (input, {ask}) =>
      listed(input, async () => ({
        items: (await itemsOf(await ask({method: 'GET', path: '/files'}))).map(fileOf),
        next: null,
      })),
    retrieveFile: async ({id}, {ask}) => ({
      json: fileOf(await (await ask({method: 'GET', path: `/files/${segment(id)}`})).json()),
    }),
    async deleteFile({id}, {ask}) {
      ;(await ask({method: 'DELETE', path: `/files/${segment(id)}`})).drop()
      return {json: {id, object: 'file', deleted: true}}
    },
    async retrieveFileContent({id}, {ask}) {
      const {body} = await ask({method: 'GET', path: `/files/${segment(id)}/content`})
      return {content: body, content_type: 'application/octet-stream'}
    },
    async createBatch({body}, {ask}) {
      const job = {
        input_file_id: needed(body, 'input_file_id', 'expected the id of a file'),
        endpoint: needed(body, 'endpoint', 'expected /v1/chat/completions'),
        completion_window: textAt(body, 'completion_window') ?? '24h',
      }
      return {json: batchObject(batchOf(await (await ask({method: 'POST', path: '/batches', body: job})).json()))}
    },
    retrieveBatch: async ({id}, {ask}) => ({
      json: batchObject(batchOf(await (await ask({method: 'GET', path: `/batches/${segment(id)}`})).json())),
    }),
    cancelBatch: async ({id}, {ask}) => ({
      json: batchObject(batchOf(await (await ask({method: 'POST', path: `/batches/${segment(id)}/cancel`})).json())),
    }),
    listBatches: (input, {ask}) =>
      listed(input, async () => {
        const jobs = await itemsOf(await ask({method: 'GET', path: '/batches'}))
        return {items: jobs.map(job => batchObject(batchOf(job))), next: null}
      }),
    async getBatchOutput({id}, {ask}) {
      const {output_file_id: file, status} = batchOf(
        await (await ask({method: 'GET', path: `/batches/${segment(id)}`})).json(),
      )
      if (!file) throw new UnsupportedInputFault('id', `the batch has no output: it is ${status}`)
      const {body} = await ask({method: 'GET', path: `/files/${segment(file)}/content`})
      return {content: body, content_type: 'application/octet-stream'}
    },
    async createFinetune({body, context}, {ask}) {
      if (context.model === '') throw new UnsupportedInputFault('model', 'expected the name of a model')
      const {learning_rate_multiplier, ...hyperparameters} = hyperparametersIn(body)
      if (learning_rate_multiplier !== undefined)
        throw new UnsupportedInputFault(
          'hyperparameters.learning_rate_multiplier',
          'Together takes a rate: send hyperparameters.learning_rate',
        )
      const validation = textAt(body, 'validation_file')
      const job = {
        model: context.model,
        training_file: needed(body, 'training_file', 'expected the id of a file'),
        ...(validation && {validation_file: validation}),
        ...(textAt(body, 'suffix') && {suffix: textAt(body, 'suffix')}),
        ...hyperparameters,
      }
      return {json: tuneObject(tuneOf(await (await ask({method: 'POST', path: '/fine-tunes', body: job})).json()))}
    },
    retrieveFinetune: async ({id}, {ask}) => ({
      json: tuneObject(tuneOf(await (await ask({method: 'GET', path: `/fine-tunes/${segment(id)}`})).json())),
    }),
    cancelFinetune: async ({id}, {ask}) => ({
      json: tuneObject(tuneOf(await (await ask({method: 'POST', path: `/fine-tunes/${segment(id)}/cancel`})).json())),
    }),
    listFinetunes: (input, {ask}) =>
      listed(input, async () => {
        const jobs = await itemsOf(await ask({method: 'GET', path: '/fine-tunes'}))
        return {items: jobs.map(job => tuneObject(tuneOf(job))), next: null}
      }),
  },
  fault: readFault,
}

/** A list bare, or under `data`. */
async function itemsOf(reply: UpstreamReply): Promise<readonly Json[]> {
  try {
    const parsed: unknown = parseJson((await reply.bytes()).toString())
    return itemsIn(Array.isArray(parsed) ? parsed : object(parsed).data)
  } catch (fault) {
    throw fault instanceof SyntaxError ? new InvalidResponseFault('expected a list') : fault
  }
}

function segment(id: string): string {
  if (!/^[\w-]{1,128}$/.test(id)) throw new UnsupportedInputFault('id', 'expected the id of a file or a job')
  return id
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function fileOf(file: Json): Json {
  const id = text(file.id)
  if (id === null) throw new InvalidResponseFault('expected the id of a file')
  const purpose = text(file.purpose) ?? 'user_data'
  return fileObject({
    id,
    bytes: whole(file.bytes),
    created_at: seconds(file.created_at) ?? 0,
    filename: text(file.filename) ?? '',
    purpose: purpose === 'batch-api' ? 'batch' : purpose,
    status: (file.processed ?? file.Processed) === false ? 'uploaded' : 'processed',
  })
}

/** A new batch is under `job`. */
function batchOf(response: Json): BatchFacts {
  const job = isObject(response.job) ? response.job : response
  const id = text(job.id)
  if (id === null) throw new InvalidResponseFault('expected the id of a batch')
  const status = known(BATCH_STATUSES, text(job.status)?.toUpperCase(), 'in_progress')
  return {
    id,
    status,
    endpoint: text(job.endpoint) ?? '',
    input_file_id: text(job.input_file_id) ?? '',
    model: text(job.model_id),
    created_at: seconds(job.created_at),
    ended_at: seconds(job.completed_at),
    expires_at: seconds(job.job_deadline),
    output_file_id: text(job.output_file_id),
    error_file_id: text(job.error_file_id),
    failure: status === 'failed' ? text(job.error) : null,
  }
}

function tuneOf(job: Json): TuneFacts {
  const id = text(job.id)
  if (id === null) throw new InvalidResponseFault('expected the id of a job')
  const {n_epochs, batch_size, token_count} = job
  const status = known(TUNE_STATUSES, job.status, 'running')
  const is_over = status === 'succeeded' || status === 'failed' || status === 'cancelled'
  return {
    id,
    status,
    model: text(job.model) ?? '',
    created_at: seconds(job.created_at),
    finished_at: is_over ? seconds(job.updated_at) : null,
    fine_tuned_model: status === 'succeeded' ? (text(job.model_output_name) ?? text(job.output_name)) : null,
    training_file: text(job.training_file) ?? '',
    validation_file: text(job.validation_file),
    hyperparameters: {...(n_epochs ? {n_epochs} : {}), ...(batch_size ? {batch_size} : {})},
    trained_tokens: typeof token_count === 'number' ? token_count : null,
  }
}
