/** How much more of an answer is held at a time, ahead of its forwarding. */
export const SLICE_TOKENS = 256

/**
 * An image at its largest, in tokens (OpenAI, image generation: high, 1024×1536), and up to three partial ones of 100.
 */
export const IMAGE_TOKENS = 6240 + 300
export const MAX_IMAGES = 10
/**
 * Of a form that edits pictures: its prompt of up to 32,000 letters, up to 16 pictures and a mask (OpenAI, API
 * reference, create image edit), and more than one comes to at high fidelity.
 */
export const EDIT_LETTERS = 32_000
export const EDIT_IMAGES = 17
export const EDIT_IMAGE_TOKENS = 7000
/**
 * A picture in an answer, at its largest, in tokens: 4K (docs.cloud.google.com, Gemini 3.1 Flash Image, image
 * generation specifications).
 */
export const SHOWN_IMAGE_TOKENS = 2520

export const SOUND_TOKENS_A_SECOND = 10
/** The prompt of a form of sound: its last 224 tokens count (OpenAI, speech to text). */
export const SOUND_PROMPT_TOKENS = 1024
/** Tokens of speech for a letter, at the usual speed. */
export const SPOKEN_TOKENS_A_LETTER = 2
/**
 * Sound of a session as it is sent by default: 24 kHz, 16 bits, one channel, a token each 100 ms heard and each 50 ms
 * spoken (OpenAI, Realtime costs).
 */
export const HEARD_BYTES_A_TOKEN = 4800
export const SPOKEN_BYTES_A_TOKEN = 2400
/** The same sound as telephones send it, 8 kHz and 8 bits (G.711), has so many times fewer bytes. */
export const TELEPHONE_FACTOR = 6

/**
 * Of one answer in a session, in tokens (OpenAI, Realtime API and models: 4096, and 32,000 of the models since
 * gpt-realtime-2).
 */
const SHORT_ANSWERS = /^gpt-(?:4o(?:-mini)?-realtime-preview|realtime(?:-mini|-1\.5)?)(?:-\d{4}-\d{2}-\d{2})?$/
export function mostSessionTokens(model: string | null): number {
  return model !== null && SHORT_ANSWERS.test(model) ? 4096 : 32_000
}

/** The longest document that is read at once (Mistral, OCR). */
export const MAX_PAGES = 1000
/** Ranked for one unit of search; longer texts count as several of so many tokens (Cohere, pricing). */
export const RANKED_TEXTS = 100
export const RANKED_TOKENS = 500
