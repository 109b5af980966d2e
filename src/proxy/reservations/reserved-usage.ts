import {withCallFees} from '../../providers/call-fees.ts'
import {promptTokens, textCount} from '../../providers/media/prompt.ts'
import {soundSeconds, toolTokens} from '../../providers/media/tokens.ts'
import {requestUnits} from '../../providers/openai/observe.ts'
import {hidesOutput, mostOutputTokens} from '../../providers/outputs/index.ts'
import {emptyUsage, imageUnit, type TokenClass, UNIT, type Usage} from '../../schema/usage.ts'
import type {Call} from '../call/call.ts'
import {isFree} from '../call/operation.ts'
import {FREE_METHODS} from '../records/usage.ts'
import type {UpstreamRequest} from '../upstream/build-request.ts'
import {
  EDIT_IMAGE_TOKENS,
  EDIT_IMAGES,
  EDIT_LETTERS,
  IMAGE_TOKENS,
  MAX_IMAGES,
  MAX_PAGES,
  RANKED_TEXTS,
  RANKED_TOKENS,
  SLICE_TOKENS,
  SOUND_PROMPT_TOKENS,
  SOUND_TOKENS_A_SECOND,
  SPOKEN_TOKENS_A_LETTER,
} from './figures.ts'
import {NO_PROMPT, type PromptUsage, type ReservedUsage} from './growing-reservation.ts'
import {RequestFacts} from './request-facts.ts'

/** The dearest of some classes at the price of the call. */
export type Dearest = (classes: readonly TokenClass[]) => TokenClass

/**
 * The most that the next attempt of a call may use; null for one that uses nothing up. The tokens of its prompt's text
 * are at most those that its bytes can be; when they were counted, `counted` has their number.
 */
export function reservedUsage(
  call: Call,
  provider: string,
  out: UpstreamRequest,
  dearest: Dearest,
  counted: number | null = null,
): ReservedUsage | null {
  const usage = usageOf(call, provider, out, dearest, counted)
  const count = usage?.text && counted === null ? textCount(usage.text, out.model ?? '') : null
  if (!usage || !count) return usage && {...usage, recount: null}
  const bounded = {...usage, recount: null}
  const recounted = (tokens: number) => reservedUsage(call, provider, out, dearest, tokens) ?? bounded
  const recount = () => {
    const tokens = count()
    return tokens instanceof Promise ? tokens.then(recounted) : recounted(tokens)
  }
  return {...usage, recount}
}

/** The same, and the JSON that is its prompt; null where there is none. */
type Uncounted = Omit<ReservedUsage, 'recount'> & {readonly text: Buffer | null}

function usageOf(
  call: Call,
  provider: string,
  out: UpstreamRequest,
  dearest: Dearest,
  counted: number | null,
): Uncounted | null {
  const {endpoint, body, incoming} = call
  if (FREE_METHODS.has(incoming.method) || isFree(call)) return null
  const length = 'bytes' in body ? body.bytes.length : incoming.headers['content-length']
  const bytes = Number(length ?? 0)
  const model = out.model ?? ''
  const request = new RequestFacts(out, body)
  const unbounded = body.kind === 'stream' && length === undefined ? UNKNOWN_LENGTH : request.unbounded
  const text = request.bytes
  const prompt = () => promptOf(request, bytes, provider, model, dearest, counted)
  switch (endpoint) {
    case 'chatComplete':
    case 'complete':
    case 'createModelResponse':
    case 'messages':
    case 'proxy': {
      const {most, output_classes} = request
      const all = prompt()
      const is_text = output_classes.length === TEXT_CLASSES
      const is_shown = is_text && 'stream' in body && body.stream && !hidesOutput(model, request.thinks)
      const first = is_shown ? Math.min(SLICE_TOKENS, most) : most
      const output_class = dearest(output_classes)
      const form = withCallFees(provider, [out.model], {
        ...emptyUsage(),
        ...all,
        [output_class]: first,
        units: request.tool_units,
      })
      return {forms: [form], prompt: all, output_class, first, most, unbounded, text}
    }
    case 'embed':
    case 'moderate':
      return whole({unbounded, text}, tokensOf(prompt(), 0))
    case 'imageGenerate':
    case 'imageEdit':
    case 'imageVariation': {
      const units = request.bytes ? requestUnits('imageGenerate', request.bytes) : null
      const count = request.bytes ? request.times : MAX_IMAGES
      const shown = request.bytes ? prompt() : editPrompt(bytes)
      return whole({unbounded, text}, units ?? unitsOf(imageUnit(), count), {
        ...tokensOf(shown, 0),
        image_out_tokens: IMAGE_TOKENS * count,
      })
    }
    case 'createSpeech': {
      const all = prompt()
      const units = request.bytes ? requestUnits(endpoint, request.bytes) : null
      const audio_out_tokens = Math.ceil((bytes * SPOKEN_TOKENS_A_LETTER) / Math.min(1, request.speed))
      return whole({unbounded, text}, units ?? unitsOf(UNIT.characters, bytes), {...tokensOf(all, 0), audio_out_tokens})
    }
    case 'createTranscription':
    case 'createTranslation': {
      const seconds = secondsOf(body, bytes)
      const heard = seconds * SOUND_TOKENS_A_SECOND
      const around = {...NO_PROMPT, input_uncached_tokens: SOUND_PROMPT_TOKENS}
      return whole({unbounded, text}, unitsOf(UNIT.audio_seconds, seconds), {
        ...tokensOf(around, heard),
        audio_in_tokens: heard,
      })
    }
    case 'rerank': {
      const texts = request.documents + Math.ceil(bytes / RANKED_TOKENS)
      return whole(
        {unbounded, text},
        unitsOf(UNIT.search_units, Math.ceil((texts + 1) / RANKED_TEXTS)),
        tokensOf(prompt(), 0),
      )
    }
    case 'ocr':
      return whole(
        {unbounded, text},
        {...emptyUsage(), units: {[UNIT.pages]: MAX_PAGES}},
        tokensOf(prompt(), mostOutputTokens(model)),
      )
    default:
      return null
  }
}

const TEXT_CLASSES = 2
const UNKNOWN_LENGTH = {what: 'a body that does not say its length', remedy: 'send it with content-length'}

function whole(of: Pick<Uncounted, 'unbounded' | 'text'>, ...forms: readonly Usage[]): Uncounted {
  return {...of, forms, prompt: NO_PROMPT, output_class: 'output_text_tokens', first: 0, most: 0}
}

/** JSON is looked into; of what is none, or passes unread, the length is known: a byte is a token at most. */
function promptOf(
  request: RequestFacts,
  bytes: number,
  provider: string,
  model: string,
  dearest: Dearest,
  counted: number | null,
): PromptUsage {
  if (!request.bytes) return {...NO_PROMPT, input_uncached_tokens: bytes}
  const {text, images, sound} = promptTokens(request.bytes, provider, model, counted)
  const {rounds, tokens} = request.tools
  const own = text + toolTokens(provider, model, request.bytes)
  // each round reads all before it once more, the model's own words too
  const read = Math.min(own + rounds * (own + images + sound + request.most + tokens), Number.MAX_SAFE_INTEGER)
  const text_class = dearest(request.input_classes)
  if (text_class === 'input_uncached_tokens')
    return {...NO_PROMPT, [text_class]: read, image_in_tokens: images, audio_in_tokens: sound}
  return {...NO_PROMPT, [text_class]: read + images, audio_in_tokens: sound}
}

/** Of a form with pictures. */
function editPrompt(bytes: number): PromptUsage {
  return {
    ...NO_PROMPT,
    input_uncached_tokens: Math.min(bytes, EDIT_LETTERS),
    image_in_tokens: EDIT_IMAGES * EDIT_IMAGE_TOKENS,
  }
}

/** How long the sound in a form may be: by its file's head where that tells, else as long as its bytes may be. */
function secondsOf(body: Call['body'], bytes: number): number {
  const files = body.kind === 'form' ? (body.parts ?? []).filter(({file_name}) => file_name !== null) : []
  if (body.kind !== 'form' || files.length !== 1 || files[0]!.is_coded) return soundSeconds(null, bytes)
  const [{start, end}] = files as [(typeof files)[number]]
  return soundSeconds(body.bytes.subarray(start, Math.min(end, start + 64)), end - start)
}

function tokensOf(prompt: PromptUsage, answer: number): Usage {
  return {...emptyUsage(), ...prompt, output_text_tokens: answer}
}

function unitsOf(unit: string, count: number): Usage {
  return {...emptyUsage(), units: {[unit]: count}}
}
