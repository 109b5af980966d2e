import {beginsBatch, executes, flagged, free, generates, type VendorOperation} from './operation.ts'

const of = (kinds: readonly string[], rows: readonly VendorOperation[]) => rows.map(row => ({...row, kinds}))

const shows = {batches: {words: 'mistral', role: 'shows'}} as const

/** Operations that single vendors have beside OpenAI's words. */
export const others: readonly VendorOperation[] = [
  ...of(
    ['mistral-ai'],
    [
      generates('mistral.fim', '/fim/completions', {endpoint: 'chatComplete'}),
      generates('mistral.agents.completions', '/agents/completions', {
        endpoint: 'chatComplete',
        models: [],
        is_indirect: true,
      }),
      generates('mistral.conversations.start', '/conversations', {is_indirect: true}),
      generates('mistral.conversations.append', '/conversations/{id}', {models: [], is_indirect: true}),
      executes('mistral.chat.moderations', '/chat/moderations', {endpoint: 'moderate'}),
      executes('mistral.classifications', '/classifications', {endpoint: 'moderate'}),
      beginsBatch('mistral.batch.jobs.create', '/batch/jobs', 'mistral', {models: ['model'], is_indirect: true}),
      ...free('mistral.batch.jobs', 'GET', '/batch/jobs', shows),
      ...free('mistral.batch.job', 'GET', '/batch/jobs/{id}', shows),
      ...free('mistral.batch.job.delete', 'DELETE', '/batch/jobs/{id}', {batches: {words: 'mistral', role: 'removes'}}),
      ...free('mistral.batch.jobs.cancel', 'POST', '/batch/jobs/{id}/cancel', shows),
      ...free('mistral.agents.create', 'POST', '/agents', {models: ['model']}),
    ],
  ),
  ...of(
    ['voyage'],
    [
      executes('voyage.multimodalembeddings', '/multimodalembeddings', {endpoint: 'embed'}),
      executes('voyage.contextualizedembeddings', '/contextualizedembeddings', {endpoint: 'embed'}),
    ],
  ),
  ...of(['workers-ai'], [generates('workers-ai.run', '/{@model+}'), generates('workers-ai.run', '/run/{@model+}')]),
  ...of(
    ['huggingface'],
    [
      generates('huggingface.chat', '/models/{model+}/v1/chat/completions', {endpoint: 'chatComplete'}),
      generates('huggingface.models', '/models/{model+}'),
      generates('huggingface.hf-inference', '/hf-inference/models/{model+}'),
    ],
  ),
  ...of(
    ['replicate'],
    [
      flagged('replicate.predictions.create', '/predictions', {models: ['any'], generates: true}),
      flagged('replicate.models.predictions.create', '/models/{id}/{id}/predictions', {generates: true}),
      ...free('replicate.predictions.cancel', 'POST', '/predictions/{id}/cancel'),
    ],
  ),
]
