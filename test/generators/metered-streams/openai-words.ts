import {
  anthropicUsage,
  atTheLast,
  type Counts,
  carrying,
  openaiUsage,
  plain,
  type Step,
  sse,
  type WireFormat,
} from './words.ts'

const chunk = (object: string, choices: readonly object[]) => ({id: 'c1', object, created: 1, model: 'm', choices})
const maySayNull = (place: Step['place'], text: string, data: object): Step => ({
  place,
  text,
  carries: true,
  bytes: told => sse(told === undefined ? data : {...data, ...(told === null ? {usage: null} : openaiUsage(told))}),
})
const ENDED: Step = plain('end', '', sse('[DONE]'))

/** Streams of choices: usage comes behind the reasons to end, in an event without choices. */
function ofChoices(
  object: string,
  choice: (text: string, reason: string | null) => object,
  first: readonly object[],
): WireFormat {
  const step = (place: Step['place'], text: string, choices: readonly object[]) =>
    maySayNull(place, text, chunk(object, choices))
  return {
    type: 'text/event-stream',
    steps: pieces => [
      ...first.map(each => step('begin', '', [each])),
      ...pieces.map(text => step('text', text, [choice(text, null)])),
      step('reason', '', [choice('', 'stop')]),
      step('usage', '', []),
      ENDED,
    ],
    usual: atTheLast,
    late: told => sse({...chunk(object, []), ...openaiUsage(told)}),
    whole: (text, told) => ({
      ...chunk(object.replace('.chunk', ''), [
        object === 'text_completion'
          ? {index: 0, text, finish_reason: 'stop', logprobs: null}
          : {index: 0, message: {role: 'assistant', content: text}, finish_reason: 'stop'},
      ]),
      ...(told && openaiUsage(told)),
    }),
  }
}

/** OpenAI API reference, chat completions. */
export const chat: WireFormat = ofChoices(
  'chat.completion.chunk',
  (content, finish_reason) => ({index: 0, delta: finish_reason ? {} : {content}, finish_reason}),
  [{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}],
)
/** OpenAI API reference, completions. */
export const completions: WireFormat = ofChoices(
  'text_completion',
  (text, finish_reason) => ({index: 0, text, finish_reason}),
  [],
)

/** Chat of those who report with the last chunk and know no `stream_options` (AI21, Mistral, Predibase, Workers AI). */
export const chatAtTheEnd: WireFormat = {
  ...chat,
  steps: pieces => chat.steps(pieces).filter(({place}) => place !== 'usage'),
}

const event = (type: string, more: object = {}) => sse({type, ...more}, type)
/** Anthropic API reference, Messages, streaming: the input comes first, the output with the reason to end. */
export const messages: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => [
    {place: 'begin', text: '', carries: true, bytes: startOf},
    plain('other', '', event('content_block_start', {index: 0, content_block: {type: 'text', text: ''}})),
    ...pieces.map(text =>
      plain('text', text, event('content_block_delta', {index: 0, delta: {type: 'text_delta', text}})),
    ),
    plain('other', '', event('content_block_stop', {index: 0})),
    carrying(
      'reason',
      '',
      data => sse(data, 'message_delta'),
      {type: 'message_delta', delta: {stop_reason: 'end_turn', stop_sequence: null}},
      anthropicUsage,
    ),
    plain('end', '', event('message_stop')),
  ],
  usual: (steps, {input, output}) =>
    new Map([
      [0, {input, output: 1}],
      [steps.findIndex(({place}) => place === 'reason'), {output}],
    ]),
  late: told => event('message_delta', {delta: {}, ...anthropicUsage(told)}),
  whole: (text, told) => ({...message([{type: 'text', text}]), ...(told && anthropicUsage(told))}),
}
const message = (content: readonly object[]) => ({
  ...{id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content},
  ...{stop_reason: 'end_turn', stop_sequence: null},
})
function startOf(told?: Counts | null) {
  return event('message_start', {message: {...message([]), stop_reason: null, ...(told && anthropicUsage(told))}})
}

const PLACE = {item_id: 'item_1', output_index: 0, content_index: 0}
const item = (content: readonly object[], status = 'completed') => ({
  id: 'item_1',
  type: 'message',
  role: 'assistant',
  status,
  content,
})
const part = (text: string) => ({type: 'output_text', text, annotations: []})
const response = (status: string, output: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output,
})
const responsesUsage = ({input, output, total}: Counts) => ({
  ...anthropicUsage({input, output}).usage,
  ...(total !== undefined
    ? {total_tokens: total}
    : input === undefined || output === undefined
      ? {}
      : {total_tokens: input + output}),
})
const holder = (type: string, place: Step['place'], status: string, output: readonly object[]): Step => ({
  place,
  text: '',
  carries: true,
  bytes: told => event(type, {response: {...response(status, output), ...(told && {usage: responsesUsage(told)})}}),
})

/** OpenAI API reference, Responses, streaming: the last event holds the answer and its usage. */
export const responses: WireFormat = {
  type: 'text/event-stream',
  steps: pieces => {
    const text = pieces.join('')
    return [
      holder('response.created', 'begin', 'in_progress', []),
      plain('other', '', event('response.output_item.added', {output_index: 0, item: item([], 'in_progress')})),
      plain('other', '', event('response.content_part.added', {...PLACE, part: part('')})),
      ...pieces.map(delta => plain('text', delta, event('response.output_text.delta', {...PLACE, delta}))),
      plain('other', '', event('response.output_text.done', {...PLACE, text})),
      plain('other', '', event('response.content_part.done', {...PLACE, part: part(text)})),
      plain('other', '', event('response.output_item.done', {output_index: 0, item: item([part(text)])})),
      holder('response.completed', 'end', 'completed', [item([part(text)])]),
    ]
  },
  usual: atTheLast,
  late: () => null,
  whole: (text, told) => ({...response('completed', [item([part(text)])]), ...(told && {usage: responsesUsage(told)})}),
}
