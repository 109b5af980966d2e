import type {Told} from './rows.ts'

/** Members that no one knows, in forms that a reader which writes anew would change. */
export const ODD = String.raw`"zz_odd" : { "one":1.0, "thousand":1e3 ,"big":1152921504606846977,"twice":1,"twice":2,"esc":"\u0041\u00e9\/", "list":[ 1.50,null ] }`
const U = ODD

const USAGE = `{"prompt_tokens":7,${U},"completion_tokens":3,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":2,${U}}}`
const CALL = String.raw`{"function":{"arguments":"{\"city\": \"\u004fslo\"}","name":"weather",${U}},${U},"id":"abcdefghi","type":"function"}`
const MESSAGE_USAGE = `{${U},"input_tokens":7,"output_tokens":3,"cache_creation_input_tokens":0}`

/** A whole reply to each endpoint: every object of it has a member that is not known. */
export const WHOLE: Readonly<Record<Told, string>> = {
  chatComplete: `{ ${U} ,\n "id":"x-1","object":"chat.completion","created":1700000000,"model":"m",\t"choices":[{${U},"index":0,"finish_reason":"tool_calls","logprobs":{"content":[{${U},"token":"a","logprob":-0.50,"bytes":null,"top_logprobs":[]}]},"message":{"content":"Hello","role":"assistant",${U},"tool_calls":[ ${CALL} ]}}],"usage":${USAGE}}\n`,
  complete: `{${U},"id":"x-1","object":"text_completion","created":1,"model":"m","choices":[{"text":"Hel\\u006co",${U},"index":0,"logprobs":null,"finish_reason":"stop"}],"usage":${USAGE}}`,
  embed: `{ "id":"e-1", ${U},"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,1e-1,-0.0],${U}},{${U},"index":1,"object":"embedding","embedding":[1.0,2,3]}],"model":"m","usage":${USAGE}}`,
  createModelResponse: `{${U},"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{${U},"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text",${U},"text":"Hello","annotations":[]}]}],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10,${U}}}`,
  messages: `{ "type":"message",${U},"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text",${U},"text":"H\\u0065llo"},{"type":"yet_unknown","big":1152921504606846977}],"stop_reason":"end_turn","stop_sequence":null,"usage":${MESSAGE_USAGE} }`,
  messagesCountTokens: `{ "input_tokens" : 7 , ${U} }`,
  rerank: `{${U},"id":"r-1","object":"list","model":"m","results":[{"index":1,${U},"relevance_score":0.90},{${U},"index":0,"relevance_score":1e-1}],"usage":{"total_tokens":12,${U}}}`,
  imageGenerate: `{"created":1,${U},"data":[{"b64_json":"aGk=",${U},"revised_prompt":"a"}],"usage":{"total_tokens":10,"input_tokens":4,"output_tokens":6,${U}}}`,
  createTranscription: `{"text":"Hello",${U},"duration":1.50,"usage":{"type":"duration","seconds":2,${U}}}`,
  moderate: `{"id":"modr-1",${U},"model":"m","results":[{${U},"flagged":false,"categories":{"hate":false,${U}},"category_scores":{"hate":1e-7}}]}`,
}

const chunk = (delta: string, finish: string, more = '') =>
  `{ ${U},"id":"x-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[ {${U},"index":0,"delta":${delta},"finish_reason":${finish}}]${more} }`

/** The data of each event, in order; of those that have one, its name before a space. */
export const STREAMS: Readonly<Partial<Record<Told, readonly string[]>>> = {
  chatComplete: [
    chunk(`{"role":"assistant",${U},"content":""}`, 'null'),
    chunk(`{"content":"H\\u0065l",${U}}`, 'null'),
    chunk(`{"content":"lo"}`, 'null'),
    chunk(
      `{"tool_calls":[ {"index":0,${U},"id":"abcdefghi","type":"function","function":{${U},"name":"weather","arguments":""}}]}`,
      'null',
    ),
    chunk(`{"tool_calls":[{${U},"index":0,"function":{"arguments":"{\\"city\\": \\"\\u004fslo\\"}",${U}}}]}`, 'null'),
    chunk(`{${U}}`, '"tool_calls"', `,"usage":${USAGE}`),
    '[DONE]',
  ],
  complete: [
    `{${U},"id":"x-1","object":"text_completion","created":1,"model":"m","choices":[{"text":"H\\u0065l",${U},"index":0,"logprobs":null,"finish_reason":null}]}`,
    `{"id":"x-1","object":"text_completion","created":1,"model":"m","choices":[{"text":"","index":0,${U},"logprobs":null,"finish_reason":"stop"}],"usage":${USAGE}}`,
    '[DONE]',
  ],
  createModelResponse: [
    `response.created {"type":"response.created",${U},"sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}`,
    `response.output_text.delta {"type":"response.output_text.delta","sequence_number":1,"item_id":"i","output_index":0,"content_index":0,"delta":"H\\u0065l",${U}}`,
    `response.yet_unknown {"type":"response.yet_unknown",${U}}`,
    `response.completed {"type":"response.completed","sequence_number":2,"response":{${U},"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10,${U}}}}`,
  ],
  messages: [
    `message_start {"type":"message_start",${U},"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":${MESSAGE_USAGE}}}`,
    `ping {"type": "ping",${U}}`,
    `content_block_start {"type":"content_block_start",${U},"index":0,"content_block":{"type":"text","text":"",${U}}}`,
    `content_block_delta {${U},"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"H\\u0065l",${U}}}`,
    `content_block_stop {"type":"content_block_stop","index":0,${U}}`,
    `yet_unknown {"type":"yet_unknown",${U}}`,
    `message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,${U}},"usage":${MESSAGE_USAGE}}`,
    `message_stop {"type":"message_stop",${U}}`,
  ],
}
