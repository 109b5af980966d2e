import {object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {OperationInput, ProviderOperation, Upstream} from '../operation.ts'
import {type Json, UnsupportedInput} from '../translation.ts'
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
  /** What is told where no model was named. */
  readonly without_model: string
  jobs(asked: OperationInput, upstream: Upstream): CloudJobs
  /** A job in OpenAI's words. */
  facts(job: Json): Facts
}

export interface CloudBatches extends Cloud<BatchFacts> {
  /** Throws `Untranslatable` for an endpoint whose calls are not run in batches. */
  check?(endpoint: EndpointName): void
  create(asked: OperationInput, upstream: Upstream, input: ObjectUri, endpoint: EndpointName): Promise<BatchFacts>
  /** Where the output of a job is written, and the words its rows are in; null while there is none. */
  output(job: Json): (ObjectUri & {readonly model: string}) | null
  /** How the cloud calls the state of a job. */
  state(job: Json): string
  read(place: ObjectUri, asked: OperationInput, upstream: Upstream): Promise<AsyncIterable<Buffer>>
  /** What a job does not say itself. */
  more?(job: Json, asked: OperationInput, upstream: Upstream): Promise<Partial<BatchFacts>>
  /** What a job is that was told to stop a moment ago. */
  stopped?(facts: BatchFacts): BatchFacts
}

export interface CloudTuning extends Cloud<TuneFacts> {
  create(asked: OperationInput, upstream: Upstream, training: ObjectUri, validation: ObjectUri | null): Promise<TuneFacts>
}

/** OpenAI's batches at a cloud. */
export function batchErrands(cloud: CloudBatches): Partial<Record<EndpointName, ProviderOperation>> {
  const {files, jobs, facts} = cloud
  return {
    async createBatch(asked, upstream) {
      const {body, context} = asked
      const input = placeIn(needed(body, 'input_file_id', 'expected the id of a file'), files, asked, 'input_file_id')
      const endpoint = endpointOf(body.endpoint, 'endpoint')
      cloud.check?.(endpoint)
      if (context.model === '') throw new UnsupportedInput('model', cloud.without_model)
      const made = await cloud.create(asked, upstream, input, endpoint)
      return {json: batchObject({...made, metadata: metadataIn(body)})}
    },
    async retrieveBatch(asked, upstream) {
      const job = await jobs(asked, upstream).get(asked.id)
      return {json: batchObject({...facts(job), ...(await cloud.more?.(job, asked, upstream))})}
    },
    async cancelBatch(asked, upstream) {
      const now = facts(await stopped(jobs(asked, upstream), asked.id))
      return {json: batchObject(cloud.stopped?.(now) ?? now)}
    },
    listBatches: (asked, upstream) => pages(asked, jobs(asked, upstream), job => batchObject(facts(job))),
    async getBatchOutput(asked, upstream) {
      const job = await jobs(asked, upstream).get(asked.id)
      const written = cloud.output(job)
      if (!written) throw new UnsupportedInput('id', `the batch has no output: it is ${cloud.state(job)}`)
      const place = placeIn(idOf(files.scheme, written), files, asked)
      const content = await cloud.read(place, asked, upstream)
      return {content: contentOf(place, content, files, asked), content_type: 'application/octet-stream'}
    },
  }
}

/** OpenAI's fine-tuning jobs at a cloud. */
export function tuneErrands(cloud: CloudTuning): Partial<Record<EndpointName, ProviderOperation>> {
  const {files, jobs, facts} = cloud
  return {
    async createFinetune(asked, upstream) {
      const {body, context} = asked
      if (context.model === '') throw new UnsupportedInput('model', cloud.without_model)
      const training = placeIn(needed(body, 'training_file', 'expected the id of a file'), files, asked, 'training_file')
      const named = textAt(body, 'validation_file')
      const validation = named === undefined ? null : placeIn(named, files, asked, 'validation_file')
      return {json: tuneObject(await cloud.create(asked, upstream, training, validation))}
    },
    retrieveFinetune: async (asked, upstream) => ({json: tuneObject(facts(await jobs(asked, upstream).get(asked.id)))}),
    cancelFinetune: async (asked, upstream) => ({json: tuneObject(facts(await stopped(jobs(asked, upstream), asked.id)))}),
    listFinetunes: (asked, upstream) => pages(asked, jobs(asked, upstream), job => tuneObject(facts(job))),
  }
}

async function stopped(jobs: CloudJobs, id: string): Promise<Json> {
  await jobs.cancel(id)
  return await jobs.get(id)
}

function pages(asked: OperationInput, jobs: CloudJobs, view: (job: Json) => Json) {
  return listed(asked, async (token, size) => {
    const {items, next} = await jobs.page(token, size)
    return {items: items.map(view), next}
  })
}

/** The objects in a member of a page; what else stands there counts as one without members. */
export function jobsIn(said: unknown): readonly Json[] {
  return Array.isArray(said) ? said.map(object) : []
}
