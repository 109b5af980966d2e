import {object, text} from '../dialects/words.ts'
import {GOOD_MESSAGES, GOOD_TOOL, messagesOf, partsOf} from './chat.ts'
import {callRules} from './openai.ts'
import {first, outside, type StrictDialect, type StrictRule, when} from './rule.ts'

const UNSUPPORTED = 'console.groq.com/docs/openai, Currently unsupported OpenAI features: 400 if supplied'
const PARTS = new Set(['text', 'image_url'])

const rules: readonly StrictRule[] = [
  ...callRules,
  {
    id: 'log probabilities',
    source: UNSUPPORTED,
    finds: body =>
      first(['logprobs', 'logit_bias', 'top_logprobs'], name => when(body[name] !== undefined, `${name} is supplied`)),
    bad: {logprobs: true},
  },
  {
    id: 'names of speakers',
    source: `${UNSUPPORTED} (messages[].name)`,
    finds: body => first(messagesOf(body), ({name}) => when(name !== undefined, 'the name of a speaker')),
    bad: {messages: [{role: 'user', content: 'x', name: 'Ann'}]},
  },
  {
    id: 'n',
    source: `${UNSUPPORTED} (N must be 1)`,
    finds: ({n}) => when(n !== undefined && n !== 1, 'several choices'),
    bad: {n: 2},
  },
  {
    id: 'parts of contents',
    source: 'console.groq.com/docs/api-reference, messages.content: text and image_url parts',
    finds: body => first(partsOf(body), ([, {type}]) => when(!PARTS.has(text(type)), `a part ${String(type)}`)),
    bad: {messages: [{role: 'user', content: [{type: 'file', file: {file_data: 'JVBERi0='}}]}]},
  },
  {
    id: 'stop',
    source: 'console.groq.com/docs/api-reference, stop: up to 4 sequences',
    finds: ({stop}) => when(Array.isArray(stop) && stop.length > 4, 'more than 4 stop sequences'),
    bad: {stop: ['a', 'b', 'c', 'd', 'e']},
  },
  {
    id: 'JSON is named',
    source:
      'console.groq.com/docs/structured-outputs, JSON object mode: "messages must contain the word json in some form"',
    finds: body =>
      when(
        object(body.response_format).type === 'json_object' &&
          !/json/i.test(JSON.stringify(messagesOf(body).map(({content}) => content ?? ''))),
        'JSON is requested and not named',
      ),
    bad: {messages: [{role: 'user', content: 'x'}], response_format: {type: 'json_object'}},
  },
  {
    id: 'temperature',
    source: 'console.groq.com/docs/openai, Temperature: a float32 > 0 and <= 2',
    finds: ({temperature}) => outside(temperature, 0, 2, 'temperature'),
    bad: {temperature: 3},
  },
]

export const groqStrict: StrictDialect = {
  name: 'groq',
  model: 'llama-3.3-70b-versatile',
  good: {model: 'llama-3.3-70b-versatile', messages: GOOD_MESSAGES, tools: [GOOD_TOOL], stop: ['END']},
  rules,
}
