import {isObject} from '../../base/json-object.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {answeredRow, type BatchRow, failedRow, wordsOfRow} from '../jobs/rows.ts'
import {messagesOf} from '../jobs/upload.ts'
import type {OperationInput} from '../operation.ts'
import {type Json, UnsupportedInputFault} from '../translation.ts'
import {textIn} from '../unified/read.ts'
import {familyOf} from './families.ts'
import {foundationModel, vendor} from './model.ts'
import {converseRequest} from './request.ts'

/**
 * How a batch job calls its model: for all rows alike (Bedrock API reference, CreateModelInvocationJob,
 * modelInvocationType).
 */
export type Invocation = 'Converse' | 'InvokeModel'

export function invocationOf(endpoint: EndpointName, model: string): Invocation {
  return endpoint === 'chatComplete' || (endpoint === 'complete' && familyOf(model) === null)
    ? 'Converse'
    : 'InvokeModel'
}

/** The request of a row, as far as its job and model show it. */
export function endpointOfJob(invocation: unknown, model: string): 'chatComplete' | 'complete' | 'embed' {
  if (foundationModel(model)?.includes('embed')) return 'embed'
  return invocation === 'InvokeModel' && familyOf(model) !== null ? 'complete' : 'chatComplete'
}

/** `{recordId, modelInput}` (Bedrock user guide, "Format and upload your batch inference data"). */
export function batchInput(row: BatchRow, input: OperationInput): Json {
  if (row.model === '')
    throw new UnsupportedInputFault('body.model', 'expected the id of a model, here or as the header provider-model')
  return {recordId: row.custom_id, modelInput: wordsOfRow(row, input)}
}

/** `{recordId, modelInput, modelOutput}` or `{recordId, modelInput, error}`. */
export function batchOutput(row: Json, number: number, model: string, input: OperationInput): Json {
  const {recordId, modelInput, modelOutput, error} = row
  const custom_id = typeof recordId === 'string' ? recordId : ''
  if (isObject(error)) {
    const {errorCode, errorMessage} = error
    return failedRow(number, custom_id, {
      code: errorCode === undefined ? null : String(errorCode),
      message: `${input.context.provider} error: ${typeof errorMessage === 'string' ? errorMessage : 'the row failed'}`,
    })
  }
  // The client wrote the body that InvokeModel takes for Claude, with a version in it, so it is parsed.
  if (isObject(modelInput) && modelInput.anthropic_version !== undefined) return row
  // A Converse request has messages, what else InvokeModel takes has a prompt or a text.
  const is_invoked = isObject(modelInput) && modelInput.messages === undefined
  const endpoint = endpointOfJob(is_invoked ? 'InvokeModel' : 'Converse', model)
  return answeredRow({custom_id, endpoint, model, number}, modelOutput, input)
}

/**
 * A row of fine-tuning data (Bedrock user guide, "Prepare data for fine-tuning"): Nova takes Converse's turns, Claude
 * its own messages, all others a prompt and its completion.
 */
export function tuneInput(row: Json, {context}: OperationInput): Json {
  const {model} = context
  if (model === '')
    throw new UnsupportedInputFault(
      'model',
      'say the model to be tuned as the header provider-model: rows are written for it',
    )
  const family = vendor(model)
  if (family === 'amazon' && foundationModel(model)?.startsWith('amazon.nova')) {
    const {messages, system} = converseRequest({messages: row.messages}, context).body as Json
    return {schemaVersion: 'bedrock-conversation-2024', ...(system ? {system} : {}), messages}
  }
  const texts = messagesOf(row).map(({role, content}, at) => ({role, text: textIn(content, `messages[${at}].content`)}))
  const system = texts
    .filter(({role}) => role === 'system' || role === 'developer')
    .map(({text}) => text)
    .join('\n')
  const turns = texts.filter(({role}) => role === 'user' || role === 'assistant')
  if (turns.length + texts.filter(({role}) => role === 'system' || role === 'developer').length !== texts.length)
    throw new UnsupportedInputFault('messages', 'expected system, user and assistant messages alone')
  if (family === 'anthropic')
    return {...(system ? {system} : {}), messages: turns.map(({role, text}) => ({role, content: text}))}
  if (turns.length !== 2 || turns[0]!.role !== 'user' || turns[1]!.role !== 'assistant')
    throw new UnsupportedInputFault('messages', `${model} is tuned on one question and one answer a row`)
  return {prompt: system ? `${system}\n\n${turns[0]!.text}` : turns[0]!.text, completion: turns[1]!.text}
}
