import {isObject, object} from '../../base/json-object.ts'
import {formOf} from '../jobs/form.ts'
import {
  type BatchFacts,
  type BatchStatus,
  batchObject,
  hyperparametersIn,
  itemsIn,
  known,
  metadataIn,
  needed,
  seconds,
  type TuneFacts,
  type TuneStatus,
  textAt,
  tuneObject,
  whole,
} from '../jobs/objects.ts'
import {listed, type ProviderPage} from '../jobs/pages.ts'
import {answeredRow, changedRows, endpointOf, wordsOfRow} from '../jobs/rows.ts'
import {openUpload} from '../jobs/upload.ts'
import type {ProviderOperations} from '../operation.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {mistral} from './index.ts'

const BATCH_STATUSES: Readonly<Record<string, BatchStatus>> = {
  QUEUED: 'validating',
  RUNNING: 'in_progress',
  SUCCESS: 'completed',
  FAILED: 'failed',
  TIMEOUT_EXCEEDED: 'expired',
  CANCELLATION_REQUESTED: 'cancelling',
  CANCELLED: 'cancelled',
}
const TUNE_STATUSES: Readonly<Record<string, TuneStatus>> = {
  QUEUED: 'queued',
  STARTED: 'running',
  VALIDATING: 'validating_files',
  VALIDATED: 'queued',
  RUNNING: 'running',
  FAILED_VALIDATION: 'failed',
  FAILED: 'failed',
  SUCCESS: 'succeeded',
  CANCELLATION_REQUESTED: 'running',
  CANCELLED: 'cancelled',
}

/**
 * Batch and fine-tuning jobs of Mistral, which are of another shape than OpenAI's; its files are the same but for the
 * rows of a batch (docs.mistral.ai, API: files, batch, fine-tuning).
 */
export const mistralOperations: ProviderOperations = {
  endpoints: {
    async uploadFile(input, {ask}) {
      const {purpose, ...file} = await openUpload(input, {
        batch: (row, of) => ({custom_id: row.custom_id, body: withoutModel(wordsOfRow(row, of))}),
      })
      const {headers, body} = formOf([
        {name: 'purpose', value: purpose},
        {name: 'file', ...file},
      ])
      return {json: await (await ask({method: 'POST', path: '/files', headers, body})).json()}
    },
    async createBatch(input, {ask}) {
      const {body, context} = input
      if (context.model === '')
        throw new UnsupportedInputFault('model', 'expected the name of a model: Mistral runs one for all rows')
      endpointOf(body.endpoint, 'endpoint')
      const job = {
        input_files: [needed(body, 'input_file_id', 'expected the id of a file')],
        endpoint: body.endpoint,
        model: context.model,
        ...(metadataIn(body) && {metadata: metadataIn(body)}),
        timeout_hours: 24,
      }
      return {json: batchObject(batchOf(await (await ask({method: 'POST', path: '/batch/jobs', body: job})).json()))}
    },
    retrieveBatch: async ({id}, {ask}) => ({
      json: batchObject(batchOf(await (await ask({method: 'GET', path: `/batch/jobs/${segment(id)}`})).json())),
    }),
    cancelBatch: async ({id}, {ask}) => ({
      json: batchObject(batchOf(await (await ask({method: 'POST', path: `/batch/jobs/${segment(id)}/cancel`})).json())),
    }),
    listBatches: (input, {ask}) =>
      listed(input, (token, size) => page('/batch/jobs', token, size, ask, job => batchObject(batchOf(job)))),
    async getBatchOutput(input, {ask}) {
      const job = await (await ask({method: 'GET', path: `/batch/jobs/${segment(input.id)}`})).json()
      const {output_file, error_file, model, status} = job
      const file = typeof output_file === 'string' ? output_file : error_file
      if (typeof file !== 'string')
        throw new UnsupportedInputFault('id', `the batch has no output: it is ${String(status)}`)
      const endpoint = endpointOf(job.endpoint, 'endpoint')
      const {body} = await ask({method: 'GET', path: `/files/${segment(file)}/content`})
      const content = changedRows(body, (row, number) => {
        const {custom_id, response} = row
        const {status_code, body: response_body} = object(response)
        if (typeof custom_id !== 'string' || status_code !== 200 || !isObject(response_body)) return row
        return answeredRow(
          {custom_id, endpoint, model: typeof model === 'string' ? model : '', number},
          response_body,
          input,
        )
      })
      return {content, content_type: 'application/octet-stream'}
    },
    async createFinetune({body, context}, {ask}) {
      if (context.model === '') throw new UnsupportedInputFault('model', 'expected the name of a model')
      const {n_epochs, batch_size, learning_rate_multiplier, ...own} = hyperparametersIn(body)
      for (const [name, value] of Object.entries({batch_size, learning_rate_multiplier}))
        if (value !== undefined)
          throw new UnsupportedInputFault(
            `hyperparameters.${name}`,
            'Mistral takes epochs, learning_rate and training_steps',
          )
      const validation = textAt(body, 'validation_file')
      const job = {
        model: context.model,
        training_files: [{file_id: needed(body, 'training_file', 'expected the id of a file'), weight: 1}],
        ...(validation && {validation_files: [validation]}),
        hyperparameters: {...(n_epochs !== undefined && {epochs: n_epochs}), ...own},
        ...(textAt(body, 'suffix') && {suffix: textAt(body, 'suffix')}),
        auto_start: true,
      }
      return {
        json: tuneObject(tuneOf(await (await ask({method: 'POST', path: '/fine_tuning/jobs', body: job})).json())),
      }
    },
    retrieveFinetune: async ({id}, {ask}) => ({
      json: tuneObject(tuneOf(await (await ask({method: 'GET', path: `/fine_tuning/jobs/${segment(id)}`})).json())),
    }),
    cancelFinetune: async ({id}, {ask}) => ({
      json: tuneObject(
        tuneOf(await (await ask({method: 'POST', path: `/fine_tuning/jobs/${segment(id)}/cancel`})).json()),
      ),
    }),
    listFinetunes: (input, {ask}) =>
      listed(input, (token, size) => page('/fine_tuning/jobs', token, size, ask, job => tuneObject(tuneOf(job)))),
  },
  fault: mistral.fault,
}

/** Pages are counted; `token` is the number of the next. All pages of one list are of one size, that of the first. */
async function page(
  path: string,
  token: string | null,
  size: number,
  ask: Parameters<NonNullable<ProviderOperations['endpoints']['listBatches']>>[1]['ask'],
  read: (job: Json) => Json,
): Promise<ProviderPage<Json>> {
  const [number, of] = token === null ? [0, size] : token.split(' ').map(Number)
  const response = await (await ask({method: 'GET', path: `${path}?page=${number}&page_size=${of}`})).json()
  const jobs = itemsIn(response.data)
  const seen = number! * of! + jobs.length
  return {items: jobs.map(read), next: jobs.length > 0 && seen < whole(response.total) ? `${number! + 1} ${of}` : null}
}

function withoutModel({model: _model, ...body}: Json): Json {
  return body
}

function segment(id: string): string {
  if (!/^[\w-]{1,128}$/.test(id)) throw new UnsupportedInputFault('id', 'expected the id of a job or a file')
  return id
}

function batchOf(job: Json): BatchFacts {
  const {id, status, model, input_files, errors} = job
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a job')
  const {message} = object(itemsIn(errors)[0])
  const file = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    id,
    status: known(BATCH_STATUSES, status, 'in_progress'),
    endpoint: String(job.endpoint ?? ''),
    input_file_id: file(Array.isArray(input_files) ? input_files[0] : null) ?? '',
    model: typeof model === 'string' ? model : null,
    created_at: seconds(job.created_at),
    in_progress_at: seconds(job.started_at),
    ended_at: seconds(job.completed_at),
    output_file_id: file(job.output_file),
    error_file_id: file(job.error_file),
    counts: {
      total: whole(job.total_requests),
      completed: whole(job.succeeded_requests),
      failed: whole(job.failed_requests),
    },
    failure: typeof message === 'string' ? message : null,
    metadata: metadataIn(job),
  }
}

function tuneOf(job: Json): TuneFacts {
  const {id, status, model, training_files, validation_files, fine_tuned_model, trained_tokens} = job
  if (typeof id !== 'string') throw new InvalidResponseFault('expected the id of a job')
  const first = (files: unknown) => (Array.isArray(files) && typeof files[0] === 'string' ? files[0] : null)
  const {epochs} = object(job.hyperparameters)
  const state = known(TUNE_STATUSES, status, 'running')
  const is_over = state === 'succeeded' || state === 'failed' || state === 'cancelled'
  return {
    id,
    status: state,
    model: typeof model === 'string' ? model : '',
    created_at: seconds(job.created_at),
    finished_at: is_over ? seconds(job.modified_at) : null,
    fine_tuned_model: typeof fine_tuned_model === 'string' ? fine_tuned_model : null,
    training_file: first(training_files) ?? '',
    validation_file: first(validation_files),
    hyperparameters: epochs === undefined || epochs === null ? {} : {n_epochs: epochs},
    trained_tokens: typeof trained_tokens === 'number' ? trained_tokens : null,
  }
}
