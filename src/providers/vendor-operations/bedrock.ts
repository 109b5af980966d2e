import {flagged, free, generates, type VendorOperation} from './operation.ts'

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
  flagged('bedrock.CreateModelInvocationJob', '/model-invocation-job', {models: ['any']}),
  ...free('bedrock.StopModelInvocationJob', 'POST', '/model-invocation-job/{id}/stop'),
].map(row => ({...row, kinds: ['bedrock']}))
