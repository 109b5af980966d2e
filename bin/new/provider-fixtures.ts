/** The content of a fixture of a new dialect before a real answer is recorded. */
export interface Hole {
  readonly provider: string
}

const USAGE = {prompt_tokens: 5, completion_tokens: 2, total_tokens: 7}

/** A case without a request yet, whose answer is one of OpenAI's. */
export const CASE = {
  asked: {model: 'm', messages: [{role: 'user', content: 'Hello'}], stream: true},
  request: {path: 'FILL IN: the path below its base URL', body: {'FILL IN': 'the body that leaves for it'}},
  answer: {
    id: 'c1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm',
    choices: [{index: 0, message: {role: 'assistant', content: 'Hi'}, finish_reason: 'stop'}],
    usage: USAGE,
  },
  usage: {input_uncached_tokens: 5, output_text_tokens: 2},
  chunks: [
    {chunk: {choices: [{index: 0, delta: {role: 'assistant', content: 'Hi'}, finish_reason: null}]}},
    {chunk: {choices: [{index: 0, delta: {}, finish_reason: 'stop'}]}},
  ],
}

export const FAULT_CASE = {
  faults: [
    [
      401,
      'FILL IN: the body of a refusal, as it is',
      {message: 'PROVIDER error: FILL IN: what the client is told of it'},
    ],
  ],
}

export function caseFile(fixture: object, {provider}: Hole): string {
  return `${JSON.stringify(fixture, null, 1).replaceAll('PROVIDER', provider)}\n`
}

export function answer(): string {
  const choices = [{index: 0, message: {role: 'assistant', content: 'Hi'}, finish_reason: 'stop'}]
  return `${JSON.stringify({id: 'c1', model: 'm', choices, usage: USAGE}, null, 1)}\n`
}

/** The same answer as a stream. */
export const EVENTS = `${[
  {id: 'c1', model: 'm', choices: [{index: 0, delta: {role: 'assistant', content: 'Hi'}, finish_reason: null}]},
  {id: 'c1', model: 'm', choices: [{index: 0, delta: {}, finish_reason: 'stop'}]},
  {id: 'c1', model: 'm', choices: [], usage: USAGE},
]
  .map(event => `data: ${JSON.stringify(event)}\n\n`)
  .join('')}data: [DONE]\n\n`
