import type {ServerResponse} from 'node:http'
import {type FakeProvider, fakeProvider, json} from '../provider.ts'

/** One answer of the model: a text, calls of functions, or a refusal with a status. */
export interface ScriptedTurn {
  readonly text?: string
  readonly calls?: readonly {readonly name: string; readonly args?: object | string}[]
  readonly status?: number
  /** The stream breaks off behind its text. */
  readonly cuts?: boolean
  /** It answers when this resolves. */
  readonly after?: Promise<unknown>
}

/** A body that the model received. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of three dialects, of which a test reads a few members
export type ModelRequest = any

/** A model on loopback that answers turn by turn, in Responses, Messages or chat, whole or streamed. */
export interface ScriptedModel {
  readonly provider: FakeProvider
  /** The bodies since the last script. */
  readonly bodies: ModelRequest[]
  /** Its turns from now on; the last one is repeated. */
  play(...turns: ScriptedTurn[]): void
  close(): Promise<void>
}

export async function scriptedModel(): Promise<ScriptedModel> {
  let script: ScriptedTurn[] = []
  const bodies: ModelRequest[] = []
  const provider = await fakeProvider(async ({path, body}, response) => {
    const request = JSON.parse(body.toString())
    bodies.push(request)
    const number = bodies.length
    const turn = script[Math.min(number, script.length) - 1]!
    await turn.after
    if (turn.status) return json(response, {error: {message: 'scripted', type: 'scripted'}}, turn.status)
    const of = /\/responses/.test(path) ? responses : /\/messages/.test(path) ? messages : chat
    of(turn, number, request, response)
  })
  return {
    provider,
    bodies,
    play(...turns) {
      script = turns
      bodies.length = 0
    },
    close: () => provider.close(),
  }
}

type Dialect = (turn: ScriptedTurn, number: number, request: ModelRequest, response: ServerResponse) => void

const callId = (number: number, at: number) => `call_${number}_${at}`
const argsOf = (args: object | string = {}) => (typeof args === 'string' ? args : JSON.stringify(args))

const responses: Dialect = ({text, calls = [], cuts}, number, request, response) => {
  const output = [
    ...(text === undefined
      ? []
      : [
          {
            ...{id: `msg_${number}`, type: 'message', status: 'completed', role: 'assistant'},
            content: [{type: 'output_text', text, annotations: []}],
          },
        ]),
    ...calls.map(({name, args}, at) => ({
      ...{id: `fc_${number}_${at}`, type: 'function_call', status: 'completed'},
      ...{call_id: callId(number, at), name, arguments: argsOf(args)},
    })),
  ]
  const usage = {
    ...{input_tokens: 10, input_tokens_details: {cached_tokens: 1}},
    ...{output_tokens: 5, output_tokens_details: {reasoning_tokens: 2}, total_tokens: 15},
  }
  const begun = {
    ...{id: `resp_${number}`, object: 'response', created_at: 1_700_000_000, model: request.model, error: null},
    ...{
      incomplete_details: null,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
    },
    ...{tools: request.tools ?? [], tool_choice: request.tool_choice ?? 'auto', store: request.store ?? true},
  }
  const whole = {...begun, status: 'completed', output, usage}
  if (!request.stream) return json(response, whole)
  let sequence_number = 0
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({type, sequence_number: sequence_number++, ...more})}\n\n`)
  response.writeHead(200, {'content-type': 'text/event-stream'})
  send('response.created', {response: {...begun, status: 'in_progress', output: [], usage: null}})
  send('response.in_progress', {response: {...begun, status: 'in_progress', output: [], usage: null}})
  for (const [output_index, item] of output.entries()) {
    if ('call_id' in item) {
      const of = {output_index, item_id: item.id}
      send('response.output_item.added', {output_index, item: {...item, arguments: '', status: 'in_progress'}})
      send('response.function_call_arguments.delta', {...of, delta: item.arguments})
      send('response.function_call_arguments.done', {...of, name: item.name, arguments: item.arguments})
    } else {
      const of = {output_index, item_id: item.id, content_index: 0}
      const [part] = item.content
      send('response.output_item.added', {output_index, item: {...item, content: [], status: 'in_progress'}})
      send('response.content_part.added', {...of, part: {...part, text: ''}})
      send('response.output_text.delta', {...of, delta: text, logprobs: []})
      if (cuts) return void setImmediate(() => response.socket?.destroy())
      send('response.output_text.done', {...of, text, logprobs: []})
      send('response.content_part.done', {...of, part})
    }
    send('response.output_item.done', {output_index, item})
  }
  send('response.completed', {response: whole})
  response.end()
}

const messages: Dialect = ({text, calls = [], cuts}, number, request, response) => {
  const content = [
    ...(text === undefined ? [] : [{type: 'text', text}]),
    ...calls.map(({name, args}, at) => ({
      ...{type: 'tool_use', id: callId(number, at), name},
      input: JSON.parse(argsOf(args)),
    })),
  ]
  const usage = {input_tokens: 10, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 5}
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  const message = {id: `msg_${number}`, type: 'message', role: 'assistant', model: request.model}
  if (!request.stream) return json(response, {...message, content, stop_reason, stop_sequence: null, usage})
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({type, ...more})}\n\n`)
  response.writeHead(200, {'content-type': 'text/event-stream'})
  const open = {...message, content: [], stop_reason: null, stop_sequence: null}
  send('message_start', {message: {...open, usage: {...usage, output_tokens: 1}}})
  send('ping', {})
  for (const [index, block] of content.entries()) {
    if ('id' in block) {
      send('content_block_start', {index, content_block: {...block, input: {}}})
      const partial_json = JSON.stringify('input' in block ? block.input : {})
      send('content_block_delta', {index, delta: {type: 'input_json_delta', partial_json}})
    } else {
      send('content_block_start', {index, content_block: {type: 'text', text: ''}})
      send('content_block_delta', {index, delta: {type: 'text_delta', text}})
      if (cuts) return void setImmediate(() => response.socket?.destroy())
    }
    send('content_block_stop', {index})
  }
  send('message_delta', {delta: {stop_reason, stop_sequence: null}, usage: {output_tokens: 5}})
  send('message_stop', {})
  response.end()
}

const chat: Dialect = ({text, calls = []}, number, request, response) => {
  const tool_calls = calls.map(({name, args}, at) => ({
    ...{index: at, id: callId(number, at), type: 'function'},
    function: {name, arguments: argsOf(args)},
  }))
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const usage = {prompt_tokens: 10, completion_tokens: 5, total_tokens: 15}
  const of = {id: `chatcmpl-${number}`, created: 1_700_000_000, model: request.model}
  const message = {role: 'assistant', content: text ?? null, ...(tool_calls.length > 0 && {tool_calls})}
  if (!request.stream) {
    const choices = [{index: 0, message, finish_reason, logprobs: null}]
    return json(response, {...of, object: 'chat.completion', choices, usage})
  }
  const send = (choices: object[], more: object = {}) =>
    response.write(`data: ${JSON.stringify({...of, object: 'chat.completion.chunk', choices, ...more})}\n\n`)
  response.writeHead(200, {'content-type': 'text/event-stream'})
  send([{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}])
  if (text !== undefined) send([{index: 0, delta: {content: text}, finish_reason: null}])
  if (tool_calls.length > 0) send([{index: 0, delta: {tool_calls}, finish_reason: null}])
  send([{index: 0, delta: {}, finish_reason}])
  send([], {usage})
  response.end('data: [DONE]\n\n')
}
