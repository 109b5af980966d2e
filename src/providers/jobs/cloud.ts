import {object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {OperationInput, ProviderOperation, Upstream} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {type BatchFacts, batchObject, metadataIn, needed, type TuneFacts, textAt, tuneObject} from './objects.ts'
import {listed, type ProviderPage} from './pages.ts'
import {endpointOf} from './rows.ts'
import {contentOf, idOf, type ObjectUri, placeIn, type StoreWords} from './store.ts'

/** Jobs of one kind at a cloud: how they are found, stopped and listed, as the cloud says them. */
export interface CloudJobs {
  get(id: string): Promise<Json>
  cancel(id: string): Promise<void>
  page(token: string | null, size: number): Promise<ProviderPage<Json>>
}

/** A cloud that runs jobs over files of its own store. */
interface Cloud<Facts> {
  readonly files: StoreWords
  /** Used where no model was named. */
  readonly without_model: string
  jobs(input: OperationInput, upstream: Upstream): CloudJobs
  /** A job in OpenAI's words. */
  facts(job: Json): Facts
}

export interface CloudBatches extends Cloud<BatchFacts> {
  /** Throws `UnsupportedInputFault` for an endpoint whose calls are not run in batches. */
  check?(endpoint: EndpointName): void
  create(request: OperationInput, upstream: Upstream, input: ObjectUri, endpoint: EndpointName): Promise<BatchFacts>
  /** The address of a job's output, and the format of its rows; null while there is none. */
  output(job: Json): (ObjectUri & {readonly model: string}) | null
  /** How the cloud calls the state of a job. */
  state(job: Json): string
  read(place: ObjectUri, input: OperationInput, upstream: Upstream): Promise<AsyncIterable<Buffer>>
  /** Facts that the job itself does not report. */
  more?(job: Json, input: OperationInput, upstream: Upstream): Promise<Partial<BatchFacts>>
  /** The status of a job that is being cancelled. */
  stopped?(facts: BatchFacts): BatchFacts
}

export interface CloudTuning extends Cloud<TuneFacts> {
  create(
    input: OperationInput,
    upstream: Upstream,
    training: ObjectUri,
    validation: ObjectUri | null,
  ): Promise<TuneFacts>
}

/** OpenAI's batches at a cloud. */
export function batchOperations(cloud: CloudBatches): Partial<Record<EndpointName, ProviderOperation>> {
  const {files, jobs, facts} = cloud
  return {
    async createBatch(request, upstream) {
      const {body, context} = request
      const input = placeIn(needed(body, 'input_file_id', 'expected the id of a file'), files, request, 'input_file_id')
      const endpoint = endpointOf(body.endpoint, 'endpoint')
      cloud.check?.(endpoint)
      if (context.model === '') throw new UnsupportedInputFault('model', cloud.without_model)
      const made = await cloud.create(request, upstream, input, endpoint)
      return {json: batchObject({...made, metadata: metadataIn(body)})}
    },
    async retrieveBatch(input, upstream) {
      const job = await jobs(input, upstream).get(input.id)
      return {json: batchObject({...facts(job), ...(await cloud.more?.(job, input, upstream))})}
    },
    async cancelBatch(input, upstream) {
      const now = facts(await stopped(jobs(input, upstream), input.id))
      return {json: batchObject(cloud.stopped?.(now) ?? now)}
    },
    listBatches: (input, upstream) => pages(input, jobs(input, upstream), job => batchObject(facts(job))),
    async getBatchOutput(input, upstream) {
      const job = await jobs(input, upstream).get(input.id)
      const written = cloud.output(job)
      if (!written) throw new UnsupportedInputFault('id', `the batch has no output: it is ${cloud.state(job)}`)
      const place = placeIn(idOf(files.scheme, written), files, input)
      const content = await cloud.read(place, input, upstream)
      return {content: contentOf(place, content, files, input), content_type: 'application/octet-stream'}
    },
  }
}

/** OpenAI's fine-tuning jobs at a cloud. */
export function tuneOperations(cloud: CloudTuning): Partial<Record<EndpointName, ProviderOperation>> {
  const {files, jobs, facts} = cloud
  return {
    async createFinetune(input, upstream) {
      const {body, context} = input
      if (context.model === '') throw new UnsupportedInputFault('model', cloud.without_model)
      const training = placeIn(
        needed(body, 'training_file', 'expected the id of a file'),
        files,
        input,
        'training_file',
      )
      const named = textAt(body, 'validation_file')
      const validation = named === undefined ? null : placeIn(named, files, input, 'validation_file')
      return {json: tuneObject(await cloud.create(input, upstream, training, validation))}
    },
    retrieveFinetune: async (input, upstream) => ({json: tuneObject(facts(await jobs(input, upstream).get(input.id)))}),
    cancelFinetune: async (input, upstream) => ({
      json: tuneObject(facts(await stopped(jobs(input, upstream), input.id))),
    }),
    listFinetunes: (input, upstream) => pages(input, jobs(input, upstream), job => tuneObject(facts(job))),
  }
}

async function stopped(jobs: CloudJobs, id: string): Promise<Json> {
  await jobs.cancel(id)
  return await jobs.get(id)
}

function pages(input: OperationInput, jobs: CloudJobs, view: (job: Json) => Json) {
  return listed(input, async (token, size) => {
    const {items, next} = await jobs.page(token, size)
    return {items: items.map(view), next}
  })
}

/** The objects in a member of a page; any other value counts as one without members. */
export function jobsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : []
}
