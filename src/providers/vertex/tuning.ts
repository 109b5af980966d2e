import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {word} from '../gemini/read.ts'
import {tuneOperations} from '../jobs/cloud.ts'
import {hyperparametersIn, known, seconds, type TuneFacts, type TuneStatus, textAt, whole} from '../jobs/objects.ts'
import {uriOf} from '../jobs/store.ts'
import {InvalidResponseFault, type Json} from '../translation.ts'
import {files} from './files.ts'
import {Jobs, numberOf} from './jobs.ts'

const STATUSES: Readonly<Record<string, TuneStatus>> = {
  JOB_STATE_QUEUED: 'queued',
  JOB_STATE_PENDING: 'queued',
  JOB_STATE_RUNNING: 'running',
  JOB_STATE_SUCCEEDED: 'succeeded',
  JOB_STATE_FAILED: 'failed',
  JOB_STATE_EXPIRED: 'failed',
  JOB_STATE_CANCELLING: 'running',
  JOB_STATE_CANCELLED: 'cancelled',
}
const KIND = 'tuningJobs'

/** OpenAI's fine-tuning jobs ⇄ tuning jobs (Vertex AI API reference, projects.locations.tuningJobs). */
export const tuning = tuneOperations({
  files,
  without_model: 'expected the name of a model',
  jobs: (input, upstream) => new Jobs(KIND, input, upstream),
  facts: factsOf,
  async create(input, upstream, training, validation) {
    const {body, context} = input
    const {n_epochs, learning_rate_multiplier, batch_size: _batch_size, ...own} = hyperparametersIn(body)
    const hyperParameters = {
      ...(n_epochs !== undefined && {epochCount: String(n_epochs)}),
      ...(learning_rate_multiplier !== undefined && {learningRateMultiplier: learning_rate_multiplier}),
      ...own,
    }
    const job = await new Jobs(KIND, input, upstream).create({
      baseModel: context.model,
      ...(textAt(body, 'suffix') && {tunedModelDisplayName: textAt(body, 'suffix')}),
      supervisedTuningSpec: {
        trainingDatasetUri: uriOf('gs', training),
        ...(validation && {validationDatasetUri: uriOf('gs', validation)}),
        ...(Object.keys(hyperParameters).length > 0 && {hyperParameters}),
      },
    })
    return factsOf(job)
  },
})

function factsOf(job: Json): TuneFacts {
  const id = numberOf(job.name)
  if (id === null) throw new InvalidResponseFault('expected the name of a job')
  const spec = object(job.supervisedTuningSpec)
  const {epochCount, learningRateMultiplier} = object(spec.hyperParameters)
  const {totalBillableTokenCount} = object(object(job.tuningDataStats).supervisedTuningDataStats)
  const tuned = object(job.tunedModel)
  const uri = (value: unknown) => (word(value) === null ? null : uriPart(word(value)!))
  return {
    id,
    status: known(STATUSES, job.state, 'running'),
    model: word(job.baseModel) ?? '',
    created_at: seconds(job.createTime),
    finished_at: seconds(job.endTime),
    fine_tuned_model: numberOf(tuned.endpoint) === null ? word(tuned.model) : `endpoints.${numberOf(tuned.endpoint)}`,
    training_file: uri(spec.trainingDatasetUri) ?? '',
    validation_file: uri(spec.validationDatasetUri),
    hyperparameters: {
      ...(epochCount !== undefined && {n_epochs: whole(epochCount)}),
      ...(learningRateMultiplier !== undefined && {learning_rate_multiplier: learningRateMultiplier}),
    },
    trained_tokens: totalBillableTokenCount === undefined ? null : whole(totalBillableTokenCount),
    failure: word(object(job.error).message),
  }
}
