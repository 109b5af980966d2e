import {object} from '../../base/json-object.ts'
import {uriPart} from '../../base/uri-part.ts'
import {tuneOperations} from '../jobs/cloud.ts'
import {hyperparametersIn, known, needed, seconds, type TuneFacts, type TuneStatus, textAt} from '../jobs/objects.ts'
import {idOf, keyOf, type ObjectUri, placeIn, uriOf} from '../jobs/store.ts'
import type {OperationInput} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {files} from './files.ts'
import {bedrockJobs, createdJob, idOfJob, type JobKind, jobName} from './jobs.ts'
import {vendor} from './model.ts'

const STATUSES: Readonly<Record<string, TuneStatus>> = {
  InProgress: 'running',
  Completed: 'succeeded',
  Failed: 'failed',
  Stopping: 'running',
  Stopped: 'cancelled',
}
const KIND: JobKind = {
  one: 'model-customization-jobs',
  all: 'model-customization-jobs',
  member: 'modelCustomizationJobSummaries',
}

/**
 * OpenAI's fine-tuning jobs ⇄ model customization jobs (Bedrock API reference, Create-, Get-, List- and
 * StopModelCustomizationJob).
 */
export const tuning = tuneOperations({
  files,
  without_model: 'expected the id of a model',
  jobs: (_input, upstream) => bedrockJobs(KIND, upstream),
  facts: factsOf,
  async create(input, upstream, training, validation) {
    const {body, context} = input
    const name = jobName(textAt(body, 'job_name'), context)
    const request = {
      jobName: name,
      clientRequestToken: context.call_id,
      customModelName: jobName(textAt(body, 'suffix') ?? name, context),
      baseModelIdentifier: context.model,
      customizationType: 'FINE_TUNING',
      roleArn: needed(
        body,
        'role_arn',
        'Amazon Bedrock needs the ARN of a service role that reads and writes the bucket',
      ),
      hyperParameters: hyperParameters(input),
      trainingDataConfig: {s3Uri: uriOf('s3', training)},
      ...(validation && {validationDataConfig: {validators: [{s3Uri: uriOf('s3', validation)}]}}),
      outputDataConfig: {s3Uri: outputUri(input, training)},
    }
    return {
      id: await createdJob(KIND, request, upstream),
      status: 'validating_files',
      model: context.model,
      created_at: context.created_s,
      training_file: idOf('s3', training),
      validation_file: validation && idOf('s3', validation),
      hyperparameters: hyperparametersIn(body),
    }
  },
})

/** Bedrock's numbers are texts. Claude has OpenAI's multiplier; the others take a rate, which no multiplier says. */
function hyperParameters({body, context}: OperationInput): Json {
  const {n_epochs, batch_size, learning_rate_multiplier, ...own} = hyperparametersIn(body)
  if (learning_rate_multiplier !== undefined && vendor(context.model) !== 'anthropic')
    throw new UnsupportedInputFault(
      'hyperparameters.learning_rate_multiplier',
      'this model takes a rate: send hyperparameters.learningRate',
    )
  const all = {epochCount: n_epochs, batchSize: batch_size, learningRateMultiplier: learning_rate_multiplier, ...own}
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}

function outputUri(input: OperationInput, {bucket}: ObjectUri): string {
  const {output_data_config: output_config} = input.body
  const named = typeof output_config === 'string' ? output_config : object(output_config).s3Uri
  const uri = typeof named === 'string' ? named : uriOf('s3', {bucket, key: keyOf('fine-tune_output', input, '')})
  placeIn(`${uri}output`, files, input, 'output_data_config')
  return uri
}

function factsOf(job: Json): TuneFacts {
  const {baseModelArn, status, failureMessage} = job
  const id = idOfJob(job)
  const uri = (value: unknown) => (typeof value === 'string' ? uriPart(value) : null)
  const {validators} = object(job.validationDataConfig)
  const {epochCount, batchSize, learningRateMultiplier} = object(job.hyperParameters)
  const model = job.outputModelArn ?? job.customModelArn
  return {
    id,
    status: known(STATUSES, status, 'running'),
    model: typeof baseModelArn === 'string' ? baseModelArn.split('/').at(-1)! : '',
    created_at: seconds(job.creationTime),
    finished_at: seconds(job.endTime),
    fine_tuned_model: typeof model === 'string' ? model : null,
    training_file: uri(object(job.trainingDataConfig).s3Uri) ?? '',
    validation_file: uri(object(Array.isArray(validators) ? validators[0] : null).s3Uri),
    hyperparameters: numbers({
      n_epochs: epochCount,
      batch_size: batchSize,
      learning_rate_multiplier: learningRateMultiplier,
    }),
    failure: typeof failureMessage === 'string' ? failureMessage : null,
  }
}

function numbers(values: Json): Json {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'string' && value !== '' ? [[name, Number(value)]] : [],
    ),
  )
}
