import {object, text} from '../dialects/words.ts'
import {GOOD_TEXTS, GOOD_TOOL, messagesOf, partsOf} from './chat.ts'
import {callRules} from './openai.ts'
import {first, outside, type StrictDialect, type StrictRule, when} from './rule.ts'

const API = 'api-docs.deepseek.com, Create chat completion'

const rules: readonly StrictRule[] = [
  ...callRules,
  {
    id: 'parts of contents',
    source: 'esengine/DeepSeek-Reasonix#7859: "unknown variant `image_url`, expected `text`"',
    finds: body => first(partsOf(body), ([, {type}]) => when(type !== 'text', `a part ${String(type)}`)),
    bad: {messages: [{role: 'user', content: [{type: 'image_url', image_url: {url: 'https://a.example/b.png'}}]}]},
  },
  {
    id: 'response_format',
    source: `${API}, response_format.type: text or json_object; "This response_format type is unavailable now"`,
    finds({response_format}) {
      const {type} = object(response_format)
      return when(type !== undefined && type !== 'text' && type !== 'json_object', `the format ${String(type)}`)
    },
    bad: {response_format: {type: 'json_schema', json_schema: {name: 'a', schema: {}}}},
  },
  {
    id: 'JSON is named',
    source: 'api-docs.deepseek.com, JSON Output: include the word "json" in the system or user prompt',
    finds: body =>
      when(
        object(body.response_format).type === 'json_object' &&
          !/json/i.test(JSON.stringify(messagesOf(body).map(({content}) => content ?? ''))),
        'JSON is requested and not named',
      ),
    bad: {messages: [{role: 'user', content: 'x'}], response_format: {type: 'json_object'}},
  },
  {
    id: 'roles',
    source: `${API}, messages.role: system, user, assistant, tool`,
    finds: body =>
      first(messagesOf(body), ({role}) =>
        when(!['system', 'user', 'assistant', 'tool'].includes(text(role)), `the role ${String(role)}`),
      ),
    bad: {messages: [{role: 'developer', content: 'x'}]},
  },
  {
    id: 'stop',
    source: `${API}, stop: up to 16 sequences`,
    finds: ({stop}) => when(Array.isArray(stop) && stop.length > 16, 'more than 16 stop sequences'),
    bad: {stop: Array.from({length: 17}, (_, at) => `s${at}`)},
  },
  {
    id: 'temperature',
    source: `${API}, temperature: <= 2`,
    finds: ({temperature}) => outside(temperature, 0, 2, 'temperature'),
    bad: {temperature: 2.5},
  },
]

export const deepseekStrict: StrictDialect = {
  name: 'deepseek',
  model: 'deepseek-chat',
  good: {
    model: 'deepseek-chat',
    messages: GOOD_TEXTS,
    tools: [GOOD_TOOL],
    stop: ['END'],
    response_format: {type: 'json_object'},
  },
  rules,
}
