import {claudeVersion} from '../anthropic/thinking.ts'
import {toolId} from '../anthropic/tools.ts'
import {vendor} from '../bedrock/model.ts'
import {callId} from '../mistral/request.ts'
import {shortId} from './ids.ts'

/**
 * The demands of a provider on a chat request beyond the form of its members, as it documents them. Each is kept by an
 * adaptation, which is reported, or by a refusal that names the field.
 */
export interface Demands {
  /** The most stop sequences, and those that are refused: empty ones, or all of white space. */
  readonly stop?: {readonly most?: number; readonly refuses: 'empty' | 'blank'}
  /** Names of functions. */
  readonly names?: RegExp
  /** Keys of a function's properties. */
  readonly keys?: RegExp
  readonly most_tools?: number
  /** Two functions of one name are refused. */
  readonly unique_names?: true
  /** Alternatives at the top of a function's parameters are refused. */
  readonly plain_parameters?: true
  /** Arrays in parameters must describe their items. */
  readonly needs_items?: true
  /** Each call is answered right behind its message, and each result answers one of them. */
  readonly pairs_calls?: true
  /** Any id as one that it takes; the same one each time. */
  readonly id?: (id: string) => string
  /** The conversation begins with the user: always, or where the assistant begins with calls. */
  readonly begins?: 'user' | 'user before calls'
  /** System messages come before all others. */
  readonly system_first?: true
  /** A message of the assistant comes between results and the user. */
  readonly bridges_results?: true
  /** A last message of the assistant is marked as the beginning of the answer. */
  readonly marks_prefix?: true
  /** The last message is the user's: no model continues one of the assistant. */
  readonly ends_with_user?: true
  /** Temperature, `top_p` and `top_k` are refused. */
  readonly refuses_sampling?: true
  /** Messages that say nothing are refused: of the assistant, or of the user too. */
  readonly refuses_empty?: 'assistant' | 'both'
  /** A text of blanks alone says something, which an empty one does not. */
  readonly takes_blank?: boolean
  /** Calls in the history are refused where no tools are offered: they become text. */
  readonly calls_need_tools?: true
  /** The parts of contents that it takes. */
  readonly parts?: ReadonlySet<string>
  /** The types of inline pictures that it takes. */
  readonly pictures?: RegExp
  /** The types of inline files that it takes, pictures among them. */
  readonly files?: RegExp
  /** Files by address are refused. */
  readonly inline_files?: true
  /** JSON by a schema is unknown: the schema goes into the prompt. */
  readonly schema_in_prompt?: true
  /** A message must name JSON where an answer in it is requested. */
  readonly names_json?: true
  /** JSON and tools exclude each other, at models that the pattern fits. */
  readonly json_or_tools?: RegExp
  /** A strict schema must close its objects and require all of their properties. */
  readonly strict_subset?: true
  /** The least and the most of numbers. */
  readonly ranges?: Readonly<Record<string, readonly [least: number, most: number]>>
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const RASTER = /^image\/(?:png|jpe?g|gif|webp)$/

const claude: Demands = {
  stop: {refuses: 'blank'},
  names: NAME,
  keys: /^[a-zA-Z0-9_.-]{1,64}$/,
  unique_names: true,
  plain_parameters: true,
  pairs_calls: true,
  id: toolId,
  pictures: RASTER,
}
const gemini: Demands = {
  stop: {most: 5, refuses: 'empty'},
  names: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  unique_names: true,
  pairs_calls: true,
  begins: 'user before calls',
  refuses_empty: 'both',
  takes_blank: true,
  pictures: /^image\/(?:png|jpe?g|webp|heic|heif)$/,
  files: /^(?:image|audio|video|text)\/|^application\/(?:pdf|json|rtf|xml|x-javascript|x-python|x-typescript)$/,
  json_or_tools: /^gemini-[12](?:[.-]|$)/,
  ranges: {temperature: [0, 2], top_p: [0, 1]},
}
const openai: Demands = {
  stop: {most: 4, refuses: 'empty'},
  names: NAME,
  most_tools: 128,
  needs_items: true,
  pairs_calls: true,
  id: id => shortId(id, 40),
  pictures: RASTER,
  inline_files: true,
  names_json: true,
  strict_subset: true,
}

/**
 * By the name of a dialect, or the slug of a provider that speaks OpenAI's words. The sources of each are those of the
 * strict models in test/support/strict.
 */
const ROWS: Readonly<Record<string, Demands>> = {
  bedrock: {
    stop: {refuses: 'empty'},
    names: NAME,
    pairs_calls: true,
    id: id => shortId(toolId(id), 64),
    begins: 'user',
    refuses_empty: 'both',
    calls_need_tools: true,
  },
  gemini,
  'gemini-on-vertex': gemini,
  cohere: {
    stop: {most: 5, refuses: 'empty'},
    names: /^[a-zA-Z0-9_-]{1,100}$/,
    pairs_calls: true,
    refuses_empty: 'both',
    json_or_tools: /^/,
    ranges: {
      top_p: [0.01, 0.99],
      p: [0.01, 0.99],
      top_k: [0, 500],
      frequency_penalty: [0, 1],
      presence_penalty: [0, 1],
    },
  },
  mistral: {
    names: NAME,
    pairs_calls: true,
    id: callId,
    system_first: true,
    bridges_results: true,
    marks_prefix: true,
    refuses_empty: 'assistant',
    ranges: {temperature: [0, 1.5]},
  },
  openai,
  'azure-openai': openai,
  groq: {
    stop: {most: 4, refuses: 'empty'},
    names: NAME,
    most_tools: 128,
    pairs_calls: true,
    parts: new Set(['text', 'image_url']),
    names_json: true,
  },
  deepseek: {
    stop: {most: 16, refuses: 'empty'},
    names: NAME,
    most_tools: 128,
    pairs_calls: true,
    parts: new Set(['text']),
    schema_in_prompt: true,
    names_json: true,
  },
  vllm: {
    stop: {refuses: 'empty'},
    parts: new Set(['text', 'refusal', 'image_url', 'input_audio', 'video_url']),
  },
}

/** The demands of a dialect for a model; undefined where nothing is known of it. */
export function demandsOf(name: string, model: string): Demands | undefined {
  if (ROWS[name] === openai && FIXED_SAMPLING.test(model)) return reasoning
  const is_claude = name.startsWith('anthropic') || (name === 'bedrock' && vendor(model) === 'anthropic')
  if (!is_claude) return Object.hasOwn(ROWS, name) ? ROWS[name] : undefined
  const version = claudeVersion(model) ?? 0
  return {
    ...(name === 'bedrock' ? claudeByConverse : claude),
    ...(version >= FIRST_WITHOUT_PREFILL ? {ends_with_user: true, refuses_empty: 'both'} : {}),
    ...(version >= FIRST_WITHOUT_SAMPLING ? {refuses_sampling: true} : {}),
  }
}

/**
 * Models of OpenAI's that take their own sampling alone; from GPT-5.1 on some take it where they do not reason. Source:
 * QwenLM/qwen-code#921, "Only the default (1) value is supported".
 */
const FIXED_SAMPLING = /^(?:o[134]|gpt-5(?!\.|-chat))(?:-|$)/
const reasoning: Demands = {...openai, refuses_sampling: true}
/** Claude 4.6 and Opus 4.7. Source: platform.claude.com/docs, Migration guide. */
const FIRST_WITHOUT_PREFILL = 406
const FIRST_WITHOUT_SAMPLING = 407
const claudeByConverse: Demands = {
  ...ROWS.bedrock,
  stop: {refuses: 'blank'},
  unique_names: true,
  plain_parameters: true,
  keys: claude.keys!,
}
