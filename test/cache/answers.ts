import fc from 'fast-check'

/** Answers of the four endpoints that stream, with whatever they may hold, and members that nobody knows. */

const text = fc.oneof(
  fc.string({unit: 'grapheme', maxLength: 20}),
  fc.constantFrom(
    '',
    '😀'.repeat(600),
    `${'a'.repeat(499)}😀`,
    'data: [DONE]\n\n',
    'line\r\nline\u2028',
    '\ud800 alone',
    `${'x'.repeat(1200)}"\\`,
  ),
)
const word = fc.stringMatching(/^[a-z]{3,8}_[a-z0-9]{1,6}$/)
const count = fc.nat({max: 100_000})
/** Nothing that JSON would write otherwise than it was read. */
const anything = fc.jsonValue({maxDepth: 3}).map(value => JSON.parse(JSON.stringify(value)) as unknown)
/** Members that nobody knows: their names say so. */
const unknown = fc.dictionary(
  fc.oneof(
    word.map(name => `x_${name}`),
    fc.constantFrom('x___proto__', 'x_constructor'),
  ),
  anything.filter(value => value !== null),
  {maxKeys: 2},
)
/** `required`, some of `optional`, and what nobody knows. */
function members<R extends object, O extends object>(
  required: {[K in keyof R]: fc.Arbitrary<R[K]>},
  optional: {[K in keyof O]: fc.Arbitrary<O[K]>} = {} as never,
): fc.Arbitrary<Record<string, unknown>> {
  const some = fc.record(optional, {requiredKeys: []})
  return fc.tuple(unknown, fc.record(required), some).map(([more, needed, may]) => ({...more, ...needed, ...may}))
}

const usage = members(
  {prompt_tokens: count, completion_tokens: count, total_tokens: count},
  {
    prompt_tokens_details: fc.record({cached_tokens: count}),
    completion_tokens_details: fc.record({reasoning_tokens: count}),
  },
)
const top = (object: string) => ({id: word, object: fc.constant(object), created: count, model: word})
const more = {system_fingerprint: fc.option(word), service_tier: word, provider: word, usage}
const finish_reason = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'end_turn')
/** In place of `index`, which the list's order gives. */
const numbered = (choices: readonly Record<string, unknown>[]) => choices.map((choice, index) => ({...choice, index}))

const token = fc.record({
  token: text,
  logprob: fc.double({min: -20, max: -0.001, noNaN: true}),
  bytes: fc.option(fc.array(fc.nat({max: 255}), {maxLength: 3})),
  top_logprobs: fc.array(fc.record({token: text, logprob: fc.constant(-1.5), bytes: fc.constant(null)}), {
    maxLength: 2,
  }),
})
const logprobs = fc.option(fc.record({content: fc.option(fc.array(token, {maxLength: 3})), refusal: fc.constant(null)}))
const tool_call = members({
  id: word,
  type: fc.constant('function'),
  function: fc.record({
    name: word,
    arguments: fc.oneof(
      text,
      anything.map(value => JSON.stringify(value)),
    ),
  }),
})
const block = fc.oneof(
  members({type: fc.constant('text'), text}),
  members({type: fc.constant('thinking'), thinking: text}, {signature: text}),
  members({type: fc.constant('redacted_thinking'), data: text}),
  members({type: fc.constant('text'), thinking: text}),
  members({type: word}),
)
const message = members(
  {role: fc.constant('assistant'), content: fc.option(text)},
  {
    refusal: fc.option(text),
    reasoning_content: fc.option(text),
    reasoning: text,
    tool_calls: fc.array(tool_call, {maxLength: 3}),
    content_blocks: fc.array(block, {maxLength: 3}),
    annotations: fc.array(members({type: fc.constant('url_citation')}), {maxLength: 2}),
    function_call: fc.record({name: word, arguments: text}),
    audio: fc.record({id: word, data: text, transcript: text, expires_at: count}),
    reasoning_details: fc.array(fc.record({type: fc.constant('reasoning.text'), text}), {maxLength: 2}),
  },
)
export const chatAnswer = members(
  {
    ...top('chat.completion'),
    choices: fc.array(members({message, finish_reason}, {logprobs}), {minLength: 1, maxLength: 3}).map(numbered),
  },
  more,
)

const text_logprobs = fc.option(
  fc.record({
    tokens: fc.array(text, {maxLength: 2}),
    token_logprobs: fc.array(fc.constant(-0.25), {maxLength: 2}),
    top_logprobs: fc.option(fc.array(fc.record({a: fc.constant(-1)}), {maxLength: 2})),
    text_offset: fc.array(count, {maxLength: 2}),
  }),
)
export const textAnswer = members(
  {
    ...top('text_completion'),
    choices: fc
      .array(members({text, finish_reason}, {logprobs: text_logprobs}), {minLength: 1, maxLength: 3})
      .map(numbered),
  },
  more,
)

const input = fc
  .dictionary(fc.string({maxLength: 5}), anything, {maxKeys: 3})
  .map(value => JSON.parse(JSON.stringify(value)) as object)
const message_block = fc.oneof(
  members(
    {type: fc.constant('text'), text},
    {citations: fc.option(fc.array(members({type: fc.constant('char_location'), cited_text: text}), {maxLength: 3}))},
  ),
  members({type: fc.constant('thinking'), thinking: text}, {signature: text}),
  members({type: fc.constant('redacted_thinking'), data: text}),
  members({type: fc.constantFrom('tool_use', 'server_tool_use', 'mcp_tool_use'), id: word, name: word, input}),
  members({type: fc.constant('web_search_tool_result'), tool_use_id: word, content: anything}),
  members({type: word, text: anything}),
)
export const messageAnswer = members(
  {
    id: word,
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    model: word,
    content: fc.array(message_block, {maxLength: 4}),
    stop_reason: fc.constantFrom('end_turn', 'max_tokens', 'tool_use', 'refusal', 'stop_sequence'),
    stop_sequence: fc.option(text),
    usage: members(
      {input_tokens: count, output_tokens: count},
      {cache_read_input_tokens: fc.option(count), server_tool_use: fc.record({web_search_requests: count})},
    ),
  },
  {stop_details: fc.option(anything.filter(value => value !== null)), container: fc.option(fc.record({id: word}))},
)

const item_id = {id: word}
const part = fc.oneof(
  members(
    {
      type: fc.constant('output_text'),
      text,
      annotations: fc.array(members({type: fc.constant('url_citation')}), {maxLength: 2}),
    },
    {logprobs: fc.constant([])},
  ),
  members({type: fc.constant('refusal'), refusal: text}),
  members({type: word}),
)
const item = fc.oneof(
  members({
    ...item_id,
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    status: fc.constant('completed'),
    content: fc.array(part, {maxLength: 3}),
  }),
  members(
    {
      ...item_id,
      type: fc.constant('reasoning'),
      summary: fc.array(members({type: fc.constant('summary_text'), text}), {maxLength: 2}),
    },
    {content: fc.array(members({type: fc.constant('reasoning_text'), text}), {maxLength: 2}), encrypted_content: text},
  ),
  members(
    {...item_id, type: fc.constant('function_call'), call_id: word, name: word, arguments: text},
    {status: fc.constant('completed')},
  ),
  members({...item_id, type: fc.constant('custom_tool_call'), call_id: word, name: word, input: text}),
  members({type: word, content: anything, summary: anything, arguments: anything}),
)
export const responseAnswer = members(
  {
    id: word,
    object: fc.constant('response'),
    created_at: count,
    model: word,
    output: fc.array(item, {maxLength: 4}),
    status: fc.constantFrom('completed', 'incomplete'),
    error: fc.constant(null),
  },
  {
    usage: fc.option(members({input_tokens: count, output_tokens: count, total_tokens: count})),
    incomplete_details: anything,
    tools: fc.array(anything, {maxLength: 2}),
  },
)

export const ANSWERS = {
  chatComplete: chatAnswer,
  complete: textAnswer,
  messages: messageAnswer,
  createModelResponse: responseAnswer,
} as const
