import {object} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Asked, Errand, Upstream} from '../errand.ts'
import {hyperparametersIn, known, needed, seconds, type TuneFacts, type TuneStatus, textAt, tuneObject} from '../jobs/objects.ts'
import {listed} from '../jobs/pages.ts'
import {idOf, keyOf, type Place, placeIn, uriOf} from '../jobs/store.ts'
import {BadReply, type Json, Untranslatable} from '../translation.ts'
import {files} from './files.ts'
import {jobName, jobPath} from './jobs.ts'
import {vendor} from './model.ts'

const STATUSES: Readonly<Record<string, TuneStatus>> = {
  InProgress: 'running',
  Completed: 'succeeded',
  Failed: 'failed',
  Stopping: 'running',
  Stopped: 'cancelled',
}
const KIND = 'model-customization-jobs'

/** OpenAI's fine-tuning jobs ⇄ model customization jobs (Bedrock API reference, Create-, Get-, List- and StopModelCustomizationJob). */
export const tuning: Partial<Record<EndpointName, Errand>> = {
  async createFinetune(asked, upstream) {
    const {body, context} = asked
    if (context.model === '') throw new Untranslatable('model', 'expected the id of a model')
    const training = placeIn(needed(body, 'training_file', 'expected the id of a file'), files, asked, 'training_file')
    const validation_file = textAt(body, 'validation_file')
    const validation = validation_file === undefined ? null : placeIn(validation_file, files, asked, 'validation_file')
    const name = jobName(textAt(body, 'job_name'), context)
    const request = {
      jobName: name,
      clientRequestToken: context.call_id,
      customModelName: jobName(textAt(body, 'suffix') ?? name, context),
      baseModelIdentifier: context.model,
      customizationType: 'FINE_TUNING',
      roleArn: needed(body, 'role_arn', 'Amazon Bedrock needs the ARN of a service role that reads and writes the bucket'),
      hyperParameters: hyperParameters(asked),
      trainingDataConfig: {s3Uri: uriOf('s3', training)},
      ...(validation && {validationDataConfig: {validators: [{s3Uri: uriOf('s3', validation)}]}}),
      outputDataConfig: {s3Uri: outputUri(asked, training)},
    }
    const {jobArn} = await (await upstream.ask({method: 'POST', path: `/${KIND}`, body: request})).json()
    if (typeof jobArn !== 'string') throw new BadReply('expected a jobArn')
    return {
      json: tuneObject({
        id: encodeURIComponent(jobArn),
        status: 'validating_files',
        model: context.model,
        created_at: context.created_s,
        training_file: idOf('s3', training),
        validation_file: validation && idOf('s3', validation),
        hyperparameters: hyperparametersIn(body),
      }),
    }
  },
  retrieveFinetune: async (asked, upstream) => ({json: tuneObject(factsOf(await jobOf(asked, upstream)))}),
  async cancelFinetune(asked, upstream) {
    ;(await upstream.ask({method: 'POST', path: `${jobPath(KIND, asked.id)}/stop`})).drop()
    return {json: tuneObject(factsOf(await jobOf(asked, upstream)))}
  },
  listFinetunes: (asked, upstream) =>
    listed(asked, async (token, size) => {
      const next = token === null ? '' : `&nextToken=${encodeURIComponent(token)}`
      const path = `/${KIND}?maxResults=${size}&sortBy=CreationTime&sortOrder=Descending${next}`
      const said = await (await upstream.ask({method: 'GET', path})).json()
      const jobs = Array.isArray(said.modelCustomizationJobSummaries) ? said.modelCustomizationJobSummaries.map(object) : []
      return {items: jobs.map(job => tuneObject(factsOf(job))), next: typeof said.nextToken === 'string' ? said.nextToken : null}
    }),
}

/** Bedrock's numbers are texts. Claude has OpenAI's multiplier; the others take a rate, which no multiplier says. */
function hyperParameters({body, context}: Asked): Json {
  const {n_epochs, batch_size, learning_rate_multiplier, ...own} = hyperparametersIn(body)
  if (learning_rate_multiplier !== undefined && vendor(context.model) !== 'anthropic')
    throw new Untranslatable('hyperparameters.learning_rate_multiplier', 'this model takes a rate: send hyperparameters.learningRate')
  const all = {epochCount: n_epochs, batchSize: batch_size, learningRateMultiplier: learning_rate_multiplier, ...own}
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])))
}

function outputUri(asked: Asked, {bucket}: Place): string {
  const {output_data_config: said} = asked.body
  const named = typeof said === 'string' ? said : object(said).s3Uri
  const uri = typeof named === 'string' ? named : uriOf('s3', {bucket, key: keyOf('fine-tune_output', asked, '')})
  placeIn(`${uri}output`, files, asked, 'output_data_config')
  return uri
}

async function jobOf({id}: Asked, {ask}: Upstream): Promise<Json> {
  return await (await ask({method: 'GET', path: jobPath(KIND, id)})).json()
}

function factsOf(job: Json): TuneFacts {
  const {jobArn, baseModelArn, status, failureMessage} = job
  if (typeof jobArn !== 'string') throw new BadReply('expected a jobArn')
  const uri = (said: unknown) => (typeof said === 'string' ? encodeURIComponent(said) : null)
  const {validators} = object(job.validationDataConfig)
  const {epochCount, batchSize, learningRateMultiplier} = object(job.hyperParameters)
  const model = job.outputModelArn ?? job.customModelArn
  return {
    id: encodeURIComponent(jobArn),
    status: known(STATUSES, status, 'running'),
    model: typeof baseModelArn === 'string' ? baseModelArn.split('/').at(-1)! : '',
    created_at: seconds(job.creationTime),
    finished_at: seconds(job.endTime),
    fine_tuned_model: typeof model === 'string' ? model : null,
    training_file: uri(object(job.trainingDataConfig).s3Uri) ?? '',
    validation_file: uri(object(Array.isArray(validators) ? validators[0] : null).s3Uri),
    hyperparameters: numbers({n_epochs: epochCount, batch_size: batchSize, learning_rate_multiplier: learningRateMultiplier}),
    failure: typeof failureMessage === 'string' ? failureMessage : null,
  }
}

function numbers(said: Json): Json {
  return Object.fromEntries(
    Object.entries(said).flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [[name, Number(value)]] : [])),
  )
}
