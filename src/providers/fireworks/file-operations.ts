import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {formOf} from '../jobs/form.ts'
import {
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
} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {openUpload, plainName} from '../jobs/upload.ts'
import {type OperationInput, type ProviderOperations, type Upstream, UpstreamFault} from '../operation.ts'
import {optionNeeded} from '../options.ts'
import {InvalidResponseFault, type Json, UnsupportedInputFault} from '../translation.ts'
import {readFault} from '../unified/fault.ts'

const STATUSES: Readonly<Record<string, TuneStatus>> = {
  JOB_STATE_CREATING: 'validating_files',
  JOB_STATE_VALIDATING: 'validating_files',
  JOB_STATE_PENDING: 'queued',
  JOB_STATE_RUNNING: 'running',
  JOB_STATE_WRITING_RESULTS: 'running',
  JOB_STATE_COMPLETED: 'succeeded',
  JOB_STATE_FAILED: 'failed',
  JOB_STATE_EXPIRED: 'failed',
  JOB_STATE_CANCELLED: 'cancelled',
  JOB_STATE_DELETING: 'cancelled',
}
/**
 * The longest file that Fireworks takes in one form (docs.fireworks.ai, "Fine-tuning via API"); longer files go to a
 * URL that it signs.
 */
const MAX_FORM_BYTES = 150_000_000
const JOBS = 'supervisedFineTuningJobs'

/**
 * Files are datasets, fine-tuning jobs are supervised ones (docs.fireworks.ai, REST API). Rows are OpenAI's and stay as
 * they are.
 */
export const fireworksOperations: ProviderOperations = {
  endpoints: {
    async uploadFile(input, upstream) {
      const {file_name, content, content_type} = await openUpload(input, {})
      const id = `file-${input.context.call_id}`
      const dataset = {displayName: file_name.slice(0, 64), userUploaded: {}, format: 'CHAT'}
      ;(await upstream.ask({method: 'POST', path: path(input, 'datasets'), body: {datasetId: id, dataset}})).drop()
      try {
        const bytes = await fill({id, file_name, content, content_type}, input, upstream)
        const facts = {id, bytes, created_at: input.context.created_s, filename: file_name, purpose: 'fine-tune'}
        return {json: fileObject({...facts, status: 'uploaded'})}
      } catch (fault) {
        await upstream.ask({method: 'DELETE', path: path(input, 'datasets', id), tidies: true}).then(
          reply => reply.drop(),
          () => undefined,
        )
        throw fault
      }
    },
    listFiles: (input, {ask}) =>
      listed(input, async (token, size) => {
        const response = await (
          await ask({method: 'GET', path: `${path(input, 'datasets')}?${page(token, size)}`})
        ).json()
        return {items: itemsIn(response.datasets).map(fileOf), next: nextIn(response)}
      }),
    retrieveFile: async (input, {ask}) => ({
      json: fileOf(await (await ask({method: 'GET', path: path(input, 'datasets', input.id)})).json()),
    }),
    async deleteFile(input, {ask}) {
      ;(await ask({method: 'DELETE', path: path(input, 'datasets', input.id)})).drop()
      return {json: {id: input.id, object: 'file', deleted: true}}
    },
    async retrieveFileContent(input, {ask}) {
      const response = await (
        await ask({method: 'GET', path: `${path(input, 'datasets', input.id)}:getDownloadEndpoint`})
      ).json()
      return {content: all(urlsIn(response), ask), content_type: 'application/octet-stream'}
    },
    async createFinetune(input, {ask}) {
      const {body, context} = input
      if (context.model === '') throw new UnsupportedInputFault('model', 'expected the name of a model')
      const {n_epochs, batch_size, learning_rate_multiplier, ...own} = hyperparametersIn(body)
      if (learning_rate_multiplier !== undefined)
        throw new UnsupportedInputFault(
          'hyperparameters.learning_rate_multiplier',
          'Fireworks takes a rate: send hyperparameters.learningRate',
        )
      const validation = textAt(body, 'validation_file')
      const suffix = textAt(body, 'suffix')
      const job = {
        displayName: suffix,
        dataset: resource(input, 'datasets', needed(body, 'training_file', 'expected the id of a file')),
        evaluationDataset: validation && resource(input, 'datasets', validation),
        baseModel: context.model.includes('/') ? context.model : `accounts/fireworks/models/${context.model}`,
        outputModel: suffix && resource(input, 'models', plainName(suffix).toLowerCase()),
        epochs: n_epochs,
        batchSize: batch_size,
        ...own,
      }
      const job_body = Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined))
      return {
        json: tuneObject(tuneOf(await (await ask({method: 'POST', path: path(input, JOBS), body: job_body})).json())),
      }
    },
    retrieveFinetune: async (input, upstream) => ({json: tuneObject(tuneOf(await jobOf(input, upstream)))}),
    listFinetunes: (input, {ask}) =>
      listed(input, async (token, size) => {
        const response = await (await ask({method: 'GET', path: `${path(input, JOBS)}?${page(token, size)}`})).json()
        return {items: itemsIn(response[JOBS]).map(job => tuneObject(tuneOf(job))), next: nextIn(response)}
      }),
    /** It is given up by its end: Fireworks has no other word for it. */
    async cancelFinetune(input, upstream) {
      const job = tuneOf(await jobOf(input, upstream))
      ;(await upstream.ask({method: 'DELETE', path: path(input, JOBS, input.id)})).drop()
      return {json: tuneObject({...job, status: 'cancelled'})}
    },
  },
  fault: readFault,
}

interface Filled {
  readonly id: string
  readonly file_name: string
  readonly content: AsyncIterable<Buffer>
  readonly content_type: string
}

async function fill(
  {id, file_name, content, content_type}: Filled,
  input: OperationInput,
  {ask}: Upstream,
): Promise<number> {
  const dataset = path(input, 'datasets', id)
  const name = plainName(file_name)
  const {bytes: length} = input.file_headers
  let bytes = 0
  async function* counted() {
    for await (const piece of content) {
      bytes += piece.length
      if (length === undefined && bytes > MAX_FORM_BYTES)
        throw new UnsupportedInputFault(
          'file',
          'say its length as the header file-upload-size: Fireworks must know it for files over 150 MB',
        )
      if (length !== undefined && bytes > length)
        throw new UnsupportedInputFault('file', 'it is longer than the header file-upload-size says')
      yield piece
    }
  }
  if (length === undefined) {
    const {headers, body} = formOf([{name: 'file', file_name: name, content_type, content: counted()}])
    ;(await ask({method: 'POST', path: `${dataset}:upload`, headers, body})).drop()
    return bytes
  }
  const signed = await ask({
    method: 'POST',
    path: `${dataset}:getUploadEndpoint`,
    body: {filenameToSize: {[name]: length}},
  })
  const [url] = urlsIn(await signed.json())
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(length),
    'x-goog-content-length-range': `${length},${length}`,
  }
  ;(await ask({method: 'PUT', path: url!, signed: true, headers, body: counted()})).drop()
  ;(await ask({method: 'POST', path: `${dataset}:validateUpload`, body: {}})).drop()
  return bytes
}

async function* all(urls: readonly string[], ask: Upstream['ask']): AsyncGenerator<Buffer> {
  for (const url of urls) {
    try {
      yield* (await ask({method: 'GET', path: url, signed: true})).body
    } catch (fault) {
      throw fault instanceof UpstreamFault
        ? new InvalidResponseFault(`the file's own place answered ${fault.status}`)
        : fault
    }
  }
}

function urlsIn({filenameToSignedUrls: signed_urls}: Json): readonly string[] {
  const urls = Object.values(object(signed_urls)).filter(url => typeof url === 'string')
  if (urls.length === 0) throw new InvalidResponseFault('expected a signed URL')
  return urls
}

async function jobOf(input: OperationInput, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: path(input, JOBS, input.id)})).json()
}

/** A resource's name, of an id or a name that a client sends. */
function resource({context}: OperationInput, kind: string, reference: string): string {
  const id = reference.split('/').at(-1)!
  if (!/^[\w-][\w.-]{0,127}$/.test(id))
    throw new UnsupportedInputFault('id', 'expected the id of a file, a job or a model')
  return `accounts/${optionNeeded(context.options, 'fireworks_account_id')}/${kind}/${id}`
}

function path(input: OperationInput, kind: string, id?: string): string {
  const account = optionNeeded(input.context.options, 'fireworks_account_id')
  return id === undefined ? `/accounts/${uriPart(account)}/${kind}` : `/${resource(input, kind, id)}`
}

function page(token: string | null, size: number): URLSearchParams {
  return new URLSearchParams({pageSize: String(size), ...(token && {pageToken: token})})
}

function nextIn({nextPageToken: next}: Json): string | null {
  return typeof next === 'string' && next !== '' ? next : null
}

function nameIn(value: unknown): string {
  if (typeof value !== 'string') throw new InvalidResponseFault('expected a name')
  return value.split('/').at(-1)!
}

function fileOf({name, displayName, createTime, state}: Json): Json {
  const id = nameIn(name)
  return fileObject({
    id,
    bytes: 0,
    created_at: seconds(createTime) ?? 0,
    filename: typeof displayName === 'string' && displayName !== '' ? displayName : id,
    purpose: 'fine-tune',
    status: state === 'READY' ? 'processed' : 'uploaded',
  })
}

function tuneOf(job: Json): TuneFacts {
  const {state, epochs, batchSize, outputModel, baseModel, dataset, evaluationDataset} = job
  const status = known(STATUSES, state, 'running')
  const {message} = object(job.status)
  return {
    id: nameIn(job.name),
    status,
    model: typeof baseModel === 'string' ? baseModel : '',
    created_at: seconds(job.createTime),
    finished_at: seconds(job.completedTime),
    fine_tuned_model: status === 'succeeded' && typeof outputModel === 'string' ? outputModel : null,
    training_file: typeof dataset === 'string' ? nameIn(dataset) : '',
    validation_file:
      typeof evaluationDataset === 'string' && evaluationDataset !== '' ? nameIn(evaluationDataset) : null,
    hyperparameters: {...(epochs ? {n_epochs: epochs} : {}), ...(batchSize ? {batch_size: batchSize} : {})},
    failure: status === 'failed' && typeof message === 'string' ? message : null,
  }
}
