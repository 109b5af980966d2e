import {type JsonValue, own} from './json.ts'

/** Strings that no guardrail sees: their keys, and the form that they have to have. */
interface LeftAlone {
  /** As the documentation lists them. */
  readonly what: string
  readonly keys: readonly string[]
  /** A string of another form is a text like any other, whatever its key. */
  readonly form: RegExp
  /** For a key that has other strings too: true when the object that holds it has this kind. */
  readonly where?: (holder: JsonValue | undefined) => boolean
}

/** Letters, digits and a few signs: nothing that a sentence or an address has. */
const WORD = /^[A-Za-z][\w.:/+-]{0,99}$/
const ID = /^[\w.:/+=|-]{1,512}$/
const OPAQUE = /^[\w+/=-]*$/
const DATA_URL = /^data:[\w.+/;=-]{0,200};base64,[\w+/=-]*$/

/** The whole of what is left alone. Every other string of a body is judged and redacted, whatever its key. */
export const LEFT_ALONE: readonly LeftAlone[] = [
  {what: 'models', keys: ['model'], form: /^\S{0,512}$/},
  {
    what: 'ids of calls, items, answers, files and the like',
    keys: [
      ...[
        'id',
        'call_id',
        'tool_call_id',
        'tool_use_id',
        'item_id',
        'response_id',
        'previous_response_id',
        'message_id',
        'file_id',
      ],
      ...[
        'file_ids',
        'vector_store_ids',
        'container',
        'container_id',
        'conversation',
        'approval_request_id',
        'connector_id',
      ],
      ...['system_fingerprint', 'thread_id', 'run_id', 'batch_id', 'request_id', 'event_id', 'previous_item_id'],
    ],
    form: ID,
  },
  {
    what: 'roles, types and other words that a dialect gives',
    keys: [
      ...[
        'role',
        'type',
        'object',
        'status',
        'finish_reason',
        'stop_reason',
        'native_finish_reason',
        'tool_choice',
        'function_call',
      ],
      ...[
        'detail',
        'format',
        'syntax',
        'media_type',
        'mime_type',
        'encoding_format',
        'service_tier',
        'reasoning_effort',
        'effort',
        'phase',
      ],
      ...[
        'verbosity',
        'truncation',
        'modalities',
        'include',
        'ttl',
        'search_context_size',
        'prompt_cache_retention',
        'required',
        '$ref',
      ],
      ...['inference_geo', 'speed'],
    ],
    form: WORD,
  },
  {
    what: 'names of tools and of schemas',
    keys: ['name'],
    form: WORD,
    where: holder => own(holder, 'role') === undefined,
  },
  {
    what: 'signatures, and what is encrypted',
    keys: ['signature', 'thought_signature', 'encrypted_content', 'encrypted_index', 'encrypted_stdout', 'obfuscation'],
    form: OPAQUE,
  },
  {
    what: 'base64',
    keys: ['data', 'file_data', 'b64_json', 'partial_image_b64'],
    form: OPAQUE,
    where: holder => own(holder, 'type') !== 'text',
  },
  {
    what: 'sound in the events of a realtime session',
    keys: ['audio'],
    form: OPAQUE,
    where: holder =>
      /^(?:input_audio|output_audio|audio|input_audio_buffer\.append)$/.test(String(own(holder, 'type'))),
  },
  {
    what: 'sound that a model speaks in a realtime session',
    keys: ['delta'],
    form: OPAQUE,
    where: holder => /^response\.(?:output_)?audio\.delta$/.test(String(own(holder, 'type'))),
  },
  {
    what: 'pictures that are made',
    keys: ['result'],
    form: OPAQUE,
    where: holder => own(holder, 'type') === 'image_generation_call',
  },
  {
    what: '`data:` URLs of base64',
    keys: ['url', 'image_url', 'file_url', 'file_data', 'video_url', 'audio_url', 'data'],
    form: DATA_URL,
  },
]

const BY_KEY: ReadonlyMap<string, readonly LeftAlone[]> = byKey()

function byKey(): Map<string, LeftAlone[]> {
  const by = new Map<string, LeftAlone[]>()
  for (const each of LEFT_ALONE) for (const key of each.keys) by.set(key, [...(by.get(key) ?? []), each])
  return by
}

/** Keys whose values are base64, or `data:` URLs of it. */
export const BASE64_KEYS: ReadonlySet<string> = new Set(
  LEFT_ALONE.filter(({what, form}) => what === 'base64' || form === DATA_URL).flatMap(({keys}) => keys),
)

/** True for a string that no guardrail sees: `holder` has it under `key`, or has a list of such there. */
export function isLeftAlone(text: string, key: string, holder: JsonValue | undefined): boolean {
  const rules = BY_KEY.get(key)
  return rules?.some(({form, where}) => form.test(text) && (where === undefined || where(holder))) ?? false
}

/** The name of a member of data or of a schema, in the form of programs. A name of another form is a text. */
const MEMBER = /^[A-Za-z_$][A-Za-z_$.-]{0,63}\d{0,3}$/

export function isMemberName(key: string): boolean {
  return MEMBER.test(key)
}
