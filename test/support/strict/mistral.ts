import {list, object, text} from '../dialects/words.ts'
import {call, callsOf, GOOD_MESSAGES, GOOD_TOOL, messagesOf, misChosen, misnamed, orphaned, unanswered} from './chat.ts'
import {first, outside, type StrictDialect, type StrictRule, unknownMember, when} from './rule.ts'

const API = 'docs.mistral.ai, API, chat completion'
const ORDER = 'mistralai/mistral-common, validator, order of messages'
const KNOWN = `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools
  tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode safe_prompt
  reasoning_effort prompt_cache_key guardrails`
const OF_ROLE: Readonly<Record<string, string>> = {
  system: 'role content',
  user: 'role content',
  assistant: 'role content tool_calls prefix',
  tool: 'role content tool_call_id name',
}
/** Roles that may follow one. */
const AFTER: Readonly<Record<string, string>> = {
  system: 'user assistant system',
  user: 'assistant system user',
  assistant: 'assistant user tool',
  tool: 'assistant tool',
}
const ID = /^[a-zA-Z0-9]{9}$/

const ask = {role: 'user', content: 'Read it.'}
const called = {role: 'assistant', content: '', tool_calls: [call('call00001', 'read')]}
const result = {role: 'tool', tool_call_id: 'call00001', content: 'one'}

const rules: readonly StrictRule[] = [
  {
    id: 'known members',
    source: `${API}, body; 422 "Extra inputs are not permitted"`,
    finds: body => unknownMember(body, KNOWN, 'the body'),
    bad: {logit_bias: {}},
  },
  {
    id: 'members of messages',
    source: `${API}, messages: the members of each; "Extra inputs are not permitted"`,
    finds: body =>
      first(messagesOf(body), (message, at) =>
        unknownMember(message, OF_ROLE[text(message.role)] ?? '', `messages[${at}]`),
      ),
    bad: {messages: [{...ask, name: 'Ann'}]},
  },
  {
    id: 'begins with the user',
    source: 'mistralai/mistral-common, validator: "Conversation must start with a user message or system message"',
    finds: body =>
      when(
        messagesOf(body).length < 2 && !['user', 'system'].includes(text(messagesOf(body)[0]?.role)),
        'it is one message of another role, or none',
      ),
    bad: {messages: [{role: 'assistant', content: 'Hello.'}]},
  },
  {
    id: 'order of messages',
    source: `${ORDER}: "Unexpected role 'user' after role 'tool'" (3230); spring-projects/spring-ai#2380`,
    finds: body =>
      first(messagesOf(body), ({role}, at) => {
        const before = messagesOf(body)[at - 1]
        return when(
          before !== undefined && !AFTER[text(before.role)]?.split(' ').includes(text(role)),
          `the role ${String(role)} after ${String(before?.role)}`,
        )
      }),
    bad: {messages: [ask, called, result, ask]},
  },
  {
    id: 'last message',
    source: '0xPlaygrounds/rig#1130: "Expected last role User or Tool (or Assistant with prefix True) for serving"',
    finds(body) {
      const last = messagesOf(body).at(-1)
      const is_open = last?.role === 'user' || last?.role === 'tool' || last?.prefix === true
      return when(messagesOf(body).length > 1 && !is_open, `the last message is of ${String(last?.role)}`)
    },
    bad: {messages: [ask, {role: 'assistant', content: 'It is'}]},
  },
  {
    id: 'prefix',
    source: 'mistralai/mistral-common, validator: "Assistant message with prefix True must be last message"',
    finds: body => first(messagesOf(body).slice(0, -1), ({prefix}) => when(prefix === true, 'a prefix before the end')),
    bad: {messages: [ask, {role: 'assistant', content: 'It', prefix: true}, ask]},
  },
  {
    id: 'what the assistant says',
    source: 'OpenHands/OpenHands#8685: "Assistant message must have either content or tool_calls, but not none."',
    finds: body =>
      first(messagesOf(body), message =>
        when(
          message.role === 'assistant' &&
            callsOf(message).length === 0 &&
            (typeof message.content === 'string' ? message.content === '' : list(message.content).length === 0),
          'a message of the assistant without content and calls',
        ),
      ),
    bad: {messages: [ask, {role: 'assistant', content: ''}, ask]},
  },
  {
    id: 'ids of calls',
    source: 'mistralai/mistral-common, validator: "Tool call id ... with a length of 9." (3280)',
    finds: body =>
      first(messagesOf(body), message => {
        const ids = [...callsOf(message).map(({id}) => id), ...(message.role === 'tool' ? [message.tool_call_id] : [])]
        const wrong = ids.find(id => !ID.test(text(id)))
        return when(wrong !== undefined, `the id ${String(wrong)}`)
      }),
    bad: {messages: [ask, {...called, tool_calls: [call('call_1', 'read')]}, {...result, tool_call_id: 'call_1'}]},
  },
  {
    id: 'count of results',
    source: 'mistralai/client-ts#106: "Not the same number of function calls and responses"',
    finds: unanswered,
    bad: {messages: [ask, called, ask]},
  },
  {
    id: 'results answer calls',
    source: 'mistralai/mistral-inference#135: "Unexpected role RoleEnum.tool"',
    finds: orphaned,
    bad: {messages: [ask, result]},
  },
  {
    id: 'names of functions',
    source: 'mistralai/mistral-common, validator: "with a maximum length of 64"',
    finds: body => misnamed(body),
    bad: {tools: [{...GOOD_TOOL, function: {...object(GOOD_TOOL.function), name: 'files.read'}}]},
  },
  {
    id: 'sampling',
    source: `${API}: temperature from 0 to 1.5, top_p from 0 to 1, penalties from -2 to 2`,
    finds: body =>
      outside(body.temperature, 0, 1.5, 'temperature') ??
      outside(body.top_p, 0, 1, 'top_p') ??
      outside(body.presence_penalty, -2, 2, 'presence_penalty') ??
      outside(body.frequency_penalty, -2, 2, 'frequency_penalty'),
    bad: {temperature: 1.9},
  },
  {
    id: 'tool_choice',
    source: `${API}, tool_choice: auto, none, any, required, or a function`,
    finds: body => misChosen(body),
    bad: {tool_choice: {type: 'function', function: {name: 'write'}}},
  },
]

const NINE: Readonly<Record<string, string>> = {call_1: 'call00001', call_2: 'call00002'}
export const mistralStrict: StrictDialect = {
  name: 'mistral',
  model: 'mistral-large-latest',
  good: {
    model: 'mistral-large-latest',
    messages: [
      ...GOOD_MESSAGES.slice(0, -1).map(message => ({
        ...message,
        ...(message.tool_calls ? {tool_calls: callsOf(message).map(each => ({...each, id: NINE[text(each.id)]}))} : {}),
        ...(message.tool_call_id ? {tool_call_id: NINE[text(message.tool_call_id)]} : {}),
      })),
      {role: 'assistant', content: 'Both are read.'},
      {role: 'user', content: 'And?'},
    ],
    tools: [GOOD_TOOL],
    tool_choice: 'any',
    temperature: 0.7,
    stop: ['END'],
  },
  rules,
}
