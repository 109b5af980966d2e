import {eventFrame} from '../../providers/bedrock/frames.ts'
import {anthropicWords} from './anthropic.ts'
import {bedrockWords} from './bedrock.ts'
import {check, type TwinWords} from './words.ts'

const {model} = bedrockWords

/**
 * Claude by InvokeModel. Source: Amazon Bedrock user guide, Anthropic Claude Messages API; API reference, PayloadPart.
 */
export const bedrockMessagesWords: TwinWords = {
  ...anthropicWords,
  kind: bedrockWords.kind,
  base: bedrockWords.base,
  model,
  auth: bedrockWords.auth,
  path: is_stream => `/model/${encodeURIComponent(model)}/${is_stream ? 'invoke-with-response-stream' : 'invoke'}`,
  read({anthropic_version, ...body}, is_stream) {
    check(anthropic_version === 'bedrock-2023-05-31', 'the version is another')
    check(!('model' in body) && !('stream' in body), 'model and stream stand in the path')
    return anthropicWords.read({...body, model: anthropicWords.model, ...(is_stream ? {stream: true} : {})}, is_stream)
  },
  events: said =>
    anthropicWords.events(said).map(event => {
      const data = event.toString().split('\ndata: ')[1]!.trim()
      return eventFrame('chunk', {bytes: Buffer.from(data).toString('base64'), p: 'abcdefgh'})
    }),
  stream_type: bedrockWords.stream_type,
  error: bedrockWords.error,
}
