import {beginsBatch, flagged, free, generates, type VendorOperation} from './operation.ts'

const shows = {batches: {words: 'bedrock', role: 'shows'}} as const
const aws_event_stream = {framing: 'aws_event_stream'} as const

/** Amazon Bedrock's runtime and control plane (Bedrock API reference). The path alone names the model. */
export const bedrock: readonly VendorOperation[] = [
  generates('bedrock.Converse', '/model/{model+}/converse'),
  generates('bedrock.ConverseStream', '/model/{model+}/converse-stream', aws_event_stream),
  generates('bedrock.InvokeModel', '/model/{model+}/invoke'),
  generates('bedrock.InvokeModelWithResponseStream', '/model/{model+}/invoke-with-response-stream', aws_event_stream),
  ...free('bedrock.CountTokens', 'POST', '/model/{model+}/count-tokens', {models: ['path', 'model']}),
  flagged('bedrock.StartAsyncInvoke', '/async-invoke', {models: ['any']}),
  ...free('bedrock.ListAsyncInvokes', 'GET', '/async-invoke'),
  ...free('bedrock.GetAsyncInvoke', 'GET', '/async-invoke/{id}'),
  flagged('bedrock.ApplyGuardrail', '/guardrail/{id}/version/{id}/apply'),
  flagged('bedrock.Rerank', '/rerank', {models: ['any']}),
  beginsBatch('bedrock.CreateModelInvocationJob', '/model-invocation-job', 'bedrock', {models: ['any']}),
  ...free('bedrock.ListModelInvocationJobs', 'GET', '/model-invocation-jobs', shows),
  // The ARN of a job has a slash in it.
  ...free('bedrock.GetModelInvocationJob', 'GET', '/model-invocation-job/*', shows),
  ...free('bedrock.StopModelInvocationJob', 'POST', '/model-invocation-job/*/stop'),
].map(row => ({...row, kinds: ['bedrock']}))
